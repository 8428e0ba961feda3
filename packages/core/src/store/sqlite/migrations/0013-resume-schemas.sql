-- What resume data must fit where no definition says so: an agent's tool waits, and only its call knows.

alter table suspensions add column resume_schema text;
