// The operations on schedules: one shard holds a schedule with the executions that it starts.
import { readPage } from "@andante/core/internal";
import type { NewExecution, ScheduleRow, ScheduleStore } from "@andante/core/store";
import type { Shards } from "../client/shards.ts";
import { field } from "../engine/lines.ts";
import { scheduleColumns } from "../engine/schedules.ts";
import { isOptional, isText, literal, textIn, wholeIn } from "./sql.ts";

const { kind: kindColumn, scheduleId: id, whole, ...columns } = scheduleColumns;

export function scheduleOperations(shards: Shards): ScheduleStore<NewExecution> {
  return {
    change: async (change) => {
      const result = await shards.write(change.scheduleId, "changeSchedule", change);
      if (change.create !== undefined) shards.wrote(change.create.executionId);
      return result;
    },
    read: (scheduleId) => shards.read(scheduleId, "schedule", scheduleId),
    list: async ({ kind, workflowId, agentId, userId, after, before, limit, length, brief }) => {
      const conditions = [
        isText(kindColumn, kind),
        isText(columns.workflowId, workflowId),
        isOptional(columns.agentId, agentId),
        isOptional(columns.userId, userId),
        after === undefined ? "" : ` and ${id} > ${literal(field(after))}`,
        before === undefined ? "" : ` and ${id} < ${literal(field(before))}`,
      ].join("");
      const rows = await shards.search(
        `${id} as id, ${whole} as whole`,
        "sc/",
        `${conditions} order by id limit ${limit}`,
      );
      const found = rows.filter((row) => textIn(row, "id") !== "");
      const read = (row: Parameters<typeof wholeIn>[0]) => {
        const whole = wholeIn<ScheduleRow>(row);
        return brief ? { ...whole, body: "" } : whole;
      };
      return readPage(found, read, length);
    },
  };
}
