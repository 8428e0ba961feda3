-- Conversations with agents, their messages, and where executions tell what their agents used.

create table conversations (
  conversation_id text primary key,
  agent_id text not null,
  user_id text,
  title text,
  created_at integer not null,
  updated_at integer not null,
  -- The number of the last message ever; numbers are not used again.
  sequence integer not null default 0,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  total_tokens integer not null default 0,
  calls integer not null default 0
) strict;

create index conversations_by_change on conversations (updated_at, conversation_id);
create index conversations_by_user on conversations (user_id, updated_at, conversation_id);

create table messages (
  conversation_id text not null,
  sequence integer not null,
  message_id text not null,
  role text not null,
  body text not null,
  partial integer not null,
  created_at integer not null,
  primary key (conversation_id, sequence)
) strict, without rowid;

create unique index messages_by_id on messages (conversation_id, message_id);

create index events_with_usage on events (execution_id)
  where step_type = 'andAgent' and type = 'step-complete' and detail is not null;
