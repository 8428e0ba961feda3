// A batch for each night, on a schedule: it bills every customer, and one that cannot be billed does not block the others.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export interface Billing {
  customers(): Promise<readonly string[]>;
  /** Sends one bill per key, however often it is called. */
  bill(customer: string, night: string, key: string): Promise<void>;
}

const attempts = 3;

export function nightlyWith({ customers, bill }: Billing) {
  return createWorkflow({
    id: "nightly",
    name: "Bill every customer",
    input: z.object({ night: z.iso.date() }),
    result: z.object({ billed: z.number(), failed: z.array(z.string()) }),
    schedules: {
      bills: {
        cron: "0 2 * * *",
        zone: "Europe/Berlin",
        // Nights that were missed are made up for, one after the other, and a long night delays the next one.
        catchUp: "all",
        overlap: "queue",
        input: ({ at }) => ({ night: at.toISOString().slice(0, 10) }),
      },
    },
  })
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
    });
}
