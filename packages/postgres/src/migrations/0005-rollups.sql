-- oldest: 1
-- Counts per minute, workflow and step, for charts over time.

create table rollups (
  -- Of steps; else of executions. There are many more of these, they are kept for a shorter time, and most reads are of
  -- executions alone.
  steps boolean not null,
  -- Minutes since 1970.
  minute bigint not null,
  workflow_id text collate "C" not null,
  step text collate "C" not null,
  kind text collate "C" not null,
  -- Which range of durations; -1 where none is known.
  bucket integer not null,
  count bigint not null,
  primary key (steps, minute, workflow_id, step, kind, bucket)
)
-- Rows of the current minute are changed by every node: with room on the page no index entry is written.
with (fillfactor = 70);

-- The last batch of each process, so that repeating one whose result was lost adds nothing.
create table rollup_writers (
  writer text collate "C" primary key,
  number bigint not null,
  minute bigint not null
);

create index rollup_writers_by_minute on rollup_writers (minute);
