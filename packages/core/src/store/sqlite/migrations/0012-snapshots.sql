-- The fold of a journal's first events, so that continuing a long execution reads what is live and not all that was.

create table snapshots (
  execution_id text primary key,
  -- The number of the last event that it holds.
  sequence integer not null,
  format integer not null,
  body text not null
) strict, without rowid;
