-- Columns in the words of the code. Renaming changes the schema alone: no row is rewritten.

alter table executions rename column answers to resumes;
-- Nobody has to run it: it is suspended or sleeps, with no body in flight.
alter table executions rename column resting to idle;
