-- Whose log lines are. Lines from before are nobody's: no row is rewritten.

alter table logs add column user_id text;

create index logs_by_user on logs (user_id, id) where user_id is not null;
