-- Tool approvals that were used, until they expire, and the secret that their requests are signed with.

create table used_approvals (
  approval_key text primary key,
  expires_at integer not null
) strict, without rowid;

create index used_approvals_by_expiry on used_approvals (expires_at);

create table secrets (
  name text primary key,
  value text not null
) strict, without rowid;
