// Schedules of the store of maps.
import { decideSchedule } from "../../src/store/decide/index.ts";
import type {
  ChangeSchedule,
  ChangeScheduleResult,
  ScheduleQuery,
  ScheduleRow,
  StoredSchedule,
} from "../../src/store/schedule-store.ts";
import { readPage } from "../../src/store/sql/read-page.ts";
import type { DueQuery, DueTimer, NewExecution } from "../../src/store/store.ts";

export function plainSchedules(create: (execution: NewExecution) => { readonly created: boolean }) {
  const rows = new Map<string, StoredSchedule>();
  return {
    due: ({ workflowIds, agentIds = [], limit }: DueQuery): DueTimer[] =>
      [...rows.values()]
        .flatMap(({ scheduleId: executionId, kind, workflowId, agentId, dueAt }): DueTimer[] =>
          dueAt !== null && (workflowIds.includes(workflowId) || agentIds.includes(agentId ?? ""))
            ? [{ kind: kind === "delivery" ? kind : "schedule", executionId, workflowId, dueAt }]
            : [],
        )
        .sort((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit),
    deliver: (row: StoredSchedule): void => {
      if (!rows.has(row.scheduleId)) rows.set(row.scheduleId, row);
    },
    operations: {
      change: (change: ChangeSchedule<NewExecution>): ChangeScheduleResult => {
        const { scheduleId, row, create: execution } = change;
        const decided = decideSchedule(change, rows.get(scheduleId)?.version);
        if (decided !== "write") return decided;
        if (execution !== undefined && !create(execution).created) return "exists";
        if (row === null) rows.delete(scheduleId);
        else rows.set(scheduleId, row);
        return "written";
      },
      read: (scheduleId: string): StoredSchedule | undefined => rows.get(scheduleId),
      list: (query: ScheduleQuery): ScheduleRow[] => {
        const { kind, workflowId, agentId, userId, after, before, limit, length, brief } = query;
        const found = [...rows.values()]
          .filter(
            (row) =>
              row.kind === kind &&
              (workflowId === undefined || row.workflowId === workflowId) &&
              (agentId === undefined || row.agentId === agentId) &&
              (userId === undefined || row.userId === userId) &&
              (after === undefined || row.scheduleId > after) &&
              (before === undefined || row.scheduleId < before),
          )
          .sort((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1))
          .slice(0, limit);
        const view = ({ occurrences: _, ...row }: StoredSchedule) => (brief ? { ...row, body: "" } : row);
        return readPage(found, view, length);
      },
    },
  };
}
