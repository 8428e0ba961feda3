-- oldest: 1
-- The number of the spans among those that their process wrote: what is written again because a result was lost is kept
-- once. Null for earlier releases.

alter table span_chunks add column number bigint;
create unique index span_chunks_once on span_chunks (node, number) where number is not null;
