// The schedules that the tools of an agent keep, as the tools see them.

/** The schedules of an Andante, as far as reminders need them. */
export interface KeptSchedules {
  set(scheduleId: string, options: ReminderTiming & ReminderPrompt): Promise<KeptReminder>;
  list(query: {
    readonly agentId: string;
    readonly userId: string;
    /** Ids behind this text. */
    readonly cursor: string;
    readonly limit: number;
  }): Promise<{ readonly schedules: readonly KeptReminder[] }>;
  remove(scheduleId: string): Promise<void>;
  preview(timing: ReminderTiming & { readonly count: number }): { readonly times: readonly string[] };
}

/** Those of the agent that replies; one that a sub-agent keeps belongs to the agent above it. */
export interface OwnSchedules {
  readonly agentId: string;
  readonly kept: KeptSchedules;
}

export interface ReminderTiming {
  readonly cron?: string | undefined;
  readonly zone?: string | undefined;
  readonly every?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface ReminderPrompt {
  readonly agentId: string;
  readonly prompt: string;
  readonly userId: string;
  readonly conversationId?: string | undefined;
}

export interface KeptReminder {
  readonly scheduleId: string;
  readonly prompt: string | null;
  readonly cron?: string;
  readonly zone?: string;
  readonly nextAt: string | null;
  readonly waiting: number;
}
