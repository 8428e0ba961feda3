// Books a trip part by part; when one part is not available, cancels every attempted part, the last one first.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export interface Bookings {
  /** Books once per key, however often it is called, and returns the number of the booking. */
  book(part: string, key: string): Promise<string>;
  /** Cancels the booking of a key, if there is one. A cancelled key can no longer book. */
  cancel(part: string, key: string): Promise<void>;
}

/** The state that the steps of one execution share. */
const progress = z.object({
  /** The parts that may be booked, recorded before the call. */
  tried: z.array(z.string()).default([]),
  booked: z.array(z.object({ part: z.string(), booking: z.string() })).default([]),
  failed: z.string().nullable().default(null),
});

/** Known without a response, so that a booking whose response was lost can be cancelled. */
const keyOf = (executionId: string, part: string) => `${executionId}:${part}`;

const attempts = 3;

export function tripWith({ book, cancel }: Bookings) {
  return createWorkflow({
    id: "trip",
    name: "Book a trip",
    purpose: "Books everything, or cancels what was booked",
    input: z.object({ to: z.string() }),
    result: progress.pick({ booked: true, failed: true }),
  })
    .andForEach({
      id: "parts",
      items: () => ["flight", "hotel", "car"],
      step: (part) =>
        part.andWhen({
          id: "unless-failed",
          condition: ({ state }) => progress.parse(state).failed === null,
          step: (chain) =>
            chain
              // A separate step, so that it is committed before the call: from here on the part is cancelled if the
              // trip fails, even if the call succeeds later.
              .andThen({
                id: "note",
                execute: ({ data, state, setState }) => {
                  setState({ tried: [...progress.parse(state).tried, data] });
                  return data;
                },
              })
              .andThen({
                id: "book",
                execute: async ({ data, state, setState, executionId, checkpoint, logger }) => {
                  const booking = await checkpoint(
                    "number",
                    async ({ attempt, signal }) => {
                      try {
                        return await book(data, keyOf(executionId, data));
                      } catch (err) {
                        if (attempt < attempts || signal.aborted) throw err;
                        logger.warn({ err }, `the ${data} cannot be had`);
                        return null;
                      }
                    },
                    { retry: { attempts, delay: 200 } },
                  );
                  if (booking === null) setState({ failed: data });
                  else setState({ booked: [...progress.parse(state).booked, { part: data, booking }] });
                },
              }),
        }),
    })
    .andWhen({
      id: "undo",
      condition: ({ state }) => progress.parse(state).failed !== null,
      step: (chain) =>
        chain.andForEach({
          id: "parts-tried",
          items: ({ state }) => progress.parse(state).tried.toReversed(),
          step: (part) =>
            part.andThen({
              id: "cancel",
              // Until it succeeds: the customer must not pay for half a trip.
              retry: { attempts: 1000, delay: "1s", maxDelay: "10m" },
              execute: ({ data, executionId }) => cancel(data, keyOf(executionId, data)),
            }),
        }),
    })
    .andThen({
      id: "report",
      execute: ({ state }) => {
        const { booked, failed } = progress.parse(state);
        return { booked: failed === null ? booked : [], failed };
      },
    });
}
