// A batch for each night: it waits for its hour, bills every customer, and sees to the night after it.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export interface Billing {
  customers(): Promise<readonly string[]>;
  /** Sends one bill for a key, however often it is called with it. */
  bill(customer: string, night: string, key: string): Promise<void>;
  /** Starts the batch of a night. Its id is the night's, so a second start of the same is the first. */
  start(night: string): Promise<void>;
}

export function nightlyWith({ customers, bill, start }: Billing) {
  return (
    createWorkflow({
      id: "nightly",
      name: "Bill every customer",
      input: z.object({ night: z.iso.date() }),
      result: z.object({ billed: z.number(), failed: z.array(z.string()) }),
    })
      .andSleepUntil({ id: "until-two", date: ({ input }) => `${input.night}T02:00:00Z` })
      // Before the work: a night that fails does not end the nights.
      .andTap({ id: "next", retry: { attempts: 10 }, execute: ({ input }) => start(nightAfter(input.night)) })
      .andForEach({
        id: "customers",
        items: customers,
        concurrency: 8,
        step: (customer) =>
          customer.andThen({
            id: "bill",
            execute: async ({ data, input, checkpoint }) => {
              const send = ({ idempotencyKey }: { readonly idempotencyKey: string }) =>
                bill(data, input.night, idempotencyKey).then(() => true);
              try {
                await checkpoint("send", send, { retry: { attempts: 3, delay: "10s" } });
                return { customer: data, billed: true };
              } catch {
                // One customer's trouble is noted, and the others get their bills.
                return { customer: data, billed: false };
              }
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

/** The date after a date, such as 2026-11-16 for 2026-11-15. */
export function nightAfter(night: string): string {
  const day = 24 * 60 * 60 * 1000;
  return new Date(Date.parse(night) + day).toISOString().slice(0, 10);
}
