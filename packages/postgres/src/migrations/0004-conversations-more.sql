-- oldest: 1
-- Conversations have metadata and tell cached and reasoning tokens; the use of an approval has a key.

-- A JSON object of the host's.
alter table conversations add column metadata text;
alter table conversations add column cached_input_tokens bigint not null default 0;
alter table conversations add column reasoning_tokens bigint not null default 0;

-- Who used it: repeating a use whose result was lost returns the first result.
alter table used_approvals add column use_key text collate "C";
