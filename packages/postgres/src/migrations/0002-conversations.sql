-- oldest: 1
-- Conversations with agents, their messages, and the tool approvals that were used.

create table conversations (
  conversation_id text collate "C" primary key,
  agent_id text collate "C" not null,
  user_id text collate "C",
  -- A JSON string: it may be anything that a user writes.
  title text,
  created_at bigint not null,
  updated_at bigint not null,
  -- The number of the last message ever; numbers are not used again.
  sequence bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  total_tokens bigint not null default 0,
  calls bigint not null default 0
);

create index conversations_by_change on conversations (updated_at, conversation_id);
create index conversations_by_user on conversations (user_id, updated_at, conversation_id);
create index conversations_by_agent on conversations (agent_id, updated_at, conversation_id);

create table messages (
  conversation_id text collate "C" not null,
  sequence bigint not null,
  message_id text collate "C" not null,
  role text not null,
  body text not null,
  partial boolean not null,
  created_at bigint not null,
  primary key (conversation_id, sequence)
);

create unique index messages_by_id on messages (conversation_id, message_id);

-- The results of writes, for a while: repeating one whose result was lost returns it.
create table conversation_writes (
  write_key text collate "C" primary key,
  result text not null,
  written_at timestamptz not null default now()
);

create index conversation_writes_by_time on conversation_writes (written_at);

create table used_approvals (
  approval_key text collate "C" primary key,
  expires_at bigint not null
);

create index used_approvals_by_expiry on used_approvals (expires_at);

create table secrets (
  name text primary key,
  value text not null
);
