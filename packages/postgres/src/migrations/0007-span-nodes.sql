-- oldest: 1
-- Which process wrote the spans: those of others are shown to whoever follows spans here. Null for earlier releases.

alter table span_chunks add column node text collate "C";
