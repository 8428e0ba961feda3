// A batch for each night: it waits for its hour, starts the batch of the next night, and bills every customer.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export interface Billing {
  customers(): Promise<readonly string[]>;
  /** Sends one bill per key, however often it is called. */
  bill(customer: string, night: string, key: string): Promise<void>;
  /** Starts the batch of a night. Its id is derived from the night, so a second start returns the first batch. */
  start(night: string): Promise<void>;
}

const attempts = 3;

export function nightlyWith({ customers, bill, start }: Billing) {
  return (
    createWorkflow({
      id: "nightly",
      name: "Bill every customer",
      input: z.object({ night: z.iso.date() }),
      result: z.object({ billed: z.number(), failed: z.array(z.string()) }),
    })
      .andSleepUntil({ id: "until-two", date: ({ input }) => `${input.night}T02:00:00Z` })
      // Before the work: a failed night does not end the series.
      .andTap({ id: "next", retry: { attempts: 10 }, execute: ({ input }) => start(nightAfter(input.night)) })
      .andForEach({
        id: "customers",
        items: customers,
        concurrency: 8,
        step: (customer) =>
          customer.andThen({
            id: "bill",
            execute: async ({ data, input, checkpoint, logger }) => {
              const billed = await checkpoint(
                "send",
                async ({ attempt, signal, idempotencyKey }) => {
                  try {
                    await bill(data, input.night, idempotencyKey);
                    return true;
                  } catch (err) {
                    if (attempt < attempts || signal.aborted) throw err;
                    // The failure of one customer is logged, and the others get their bills.
                    logger.warn({ err }, `${data} could not be billed`);
                    return false;
                  }
                },
                { retry: { attempts, delay: "10s" } },
              );
              return { customer: data, billed };
            },
          }),
      })
      .andThen({
        id: "report",
        execute: ({ data }) => ({
          billed: data.filter(({ billed }) => billed).length,
          failed: data.filter(({ billed }) => !billed).map(({ customer }) => customer),
        }),
      })
  );
}

const hour = 60 * 60 * 1000;
const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The date after a date, such as 2026-11-16 for 2026-11-15. */
export function nightAfter(night: string): string {
  return dateOf(Date.parse(night) + 24 * hour);
}

/** The date of the next two o'clock. */
export function nextNight(now: Date): string {
  return dateOf(now.getTime() + 22 * hour);
}
