-- What waits, the oldest first: of everyone, and of one user.

create index suspensions_by_time on suspensions (suspended_at, suspension_id);
create index executions_waiting on executions (user_id) where status = 'suspended' and user_id is not null;
