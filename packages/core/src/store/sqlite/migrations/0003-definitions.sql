-- What executions began with (definitions), what they are marked with (tags), where they come from (replays), and which
-- ones wait for a definition that fits.

-- The outline of a definition, once, however many executions began with it.
create table definitions (
  definition text primary key,
  outline text not null
) strict, without rowid;

alter table executions add column definition text;
-- Why no process may run it, and the definition that did not fit.
alter table executions add column parked text;
alter table executions add column parked_under text;
-- The execution and the step that a replay began from.
alter table executions add column replay_of text;
alter table executions add column replay_step text;
-- The tags as they were given, a JSON array; execution_tags is what lists look through.
alter table executions add column tags text;

create index executions_parked on executions (workflow_id) where parked is not null;
-- What retention looks through: oldest end first.
create index executions_by_end on executions (end_at, execution_id) where end_at is not null;

create table execution_tags (
  tag text not null,
  start_at integer not null,
  execution_id text not null,
  primary key (tag, start_at, execution_id)
) strict, without rowid;
