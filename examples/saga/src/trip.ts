// A trip is booked part by part; when one part cannot be had, those that were booked are cancelled, the last one first.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export interface Bookings {
  /** Books once for a key, however often it is called with it, and returns the number of the booking. */
  book(part: string, key: string): Promise<string>;
  /** Cancels a booking; one that is cancelled already stays so. */
  cancel(part: string, booking: string): Promise<void>;
}

const booked = z.array(z.object({ part: z.string(), booking: z.string() }));
/** What the steps of one execution share. */
const progress = z.object({ booked: booked.default([]), failed: z.string().nullable().default(null) });

export function tripWith({ book, cancel }: Bookings) {
  return createWorkflow({
    id: "trip",
    name: "Book a trip",
    purpose: "Books everything, or cancels what was booked",
    input: z.object({ to: z.string() }),
    result: z.object({ booked, failed: z.string().nullable() }),
  })
    .andForEach({
      id: "parts",
      items: () => ["flight", "hotel", "car"],
      step: (part) =>
        part.andThen({
          id: "book",
          execute: async ({ data, state, setState, checkpoint, logger }) => {
            const { booked, failed } = progress.parse(state);
            if (failed !== null) return;
            const retry = { attempts: 3, delay: 200 };
            try {
              const booking = await checkpoint("number", ({ idempotencyKey }) => book(data, idempotencyKey), {
                retry,
              });
              setState({ booked: [...booked, { part: data, booking }] });
            } catch (err) {
              logger.warn({ err }, `the ${data} cannot be had`);
              setState({ failed: data });
            }
          },
        }),
    })
    .andWhen({
      id: "undo",
      condition: ({ state }) => progress.parse(state).failed !== null,
      step: (chain) =>
        chain.andForEach({
          id: "bookings",
          items: ({ state }) => progress.parse(state).booked.toReversed(),
          step: (booking) =>
            booking.andThen({
              id: "cancel",
              // Until it succeeds: nobody wants to pay for half a trip.
              retry: { attempts: 1000, delay: "1s", maxDelay: "10m" },
              execute: ({ data }) => cancel(data.part, data.booking),
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
