-- Forks are copied in pages. Until the last page the messages belong to no conversation, and a row here names them.

-- Counts changes of messages that were there, and replies: a copy that has begun starts over.
alter table conversations add column revision integer not null default 0;

create table forks (
  fork_id text primary key,
  -- The copy that writes the pages; another one under the same id replaces it.
  copy_id text not null,
  source_id text not null,
  revision integer not null,
  -- The last message to copy, and the last that is copied.
  last integer not null,
  copied integer not null,
  changed_at integer not null
) strict, without rowid;

create index forks_by_source on forks (source_id);
create index forks_by_change on forks (changed_at);
