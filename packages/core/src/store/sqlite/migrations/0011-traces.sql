-- The list of traces holds executions as their rows tell them. Rows of `trace_roots` are calls of agents, and executions
-- that an earlier release began.

-- The trace that it belongs to: empty for one of its own, whose id follows from the execution's; null when it is not
-- listed from here.
alter table executions add column trace text;

create index executions_by_trace on executions (trace, start_at, execution_id) where trace <> '';
