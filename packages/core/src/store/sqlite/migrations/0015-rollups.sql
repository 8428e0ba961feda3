-- Counts per minute, workflow and step, for charts over time.

create table rollups (
  -- 0: of executions, 1: of their steps. There are many more of these, they are kept for a shorter time, and most reads
  -- are of executions alone.
  steps integer not null,
  -- Minutes since 1970.
  minute integer not null,
  workflow_id text not null,
  step text not null,
  kind text not null,
  -- Which range of durations; -1 where none is known.
  bucket integer not null,
  count integer not null,
  primary key (steps, minute, workflow_id, step, kind, bucket)
) strict, without rowid;

-- The last batch of each process, so that repeating one whose result was lost adds nothing.
create table rollup_writers (
  writer text primary key,
  number integer not null,
  minute integer not null
) strict, without rowid;

create index rollup_writers_by_minute on rollup_writers (minute);
