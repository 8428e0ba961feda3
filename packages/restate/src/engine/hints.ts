// The hints of the nodes of a namespace to each other: a node puts them here, the others wait for them in one long call.
import {
  handlers,
  type ObjectContext,
  type ObjectSharedContext,
  object,
  TimeoutError,
} from "@restatedev/restate-sdk";
import { json, objectSettings } from "./settings.ts";

export interface Hint {
  /** The node that has put it. */
  readonly sender: string;
  /** Executions that it has written to; null: too many to name. */
  readonly wrote: readonly string[] | null;
  /** Turns that their owner is to stop. */
  readonly stop: readonly string[];
  /** It leaves work to the others. */
  readonly offered: boolean;
}

/** The reply to a node that waits. */
export interface News {
  /** The number of the last hint: the node waits for those after it. */
  readonly last: number;
  readonly hints: readonly Hint[];
}

export interface Waiting {
  readonly node: string;
  /** The number of the last hint that the node has seen; -1 when it has just begun to wait. */
  readonly after: number;
}

interface Board extends News {
  /** The awakeables of the nodes that wait. */
  readonly waiting: Readonly<Record<string, string>>;
}

/** Hints that are kept for nodes that are about to wait again. */
const keptHints = 16;

/** Milliseconds that a call waits: less than an attempt to call may take. */
const waitingTime = 15_000;

const empty: Board = { last: 0, hints: [], waiting: {} };

/** A node that has missed hints looks at all that concerns it. */
const missed: Hint = { sender: "", wrote: null, stop: [], offered: true };

export const hintsName = "AndanteHints1";

export const hints = object({
  name: hintsName,
  handlers: {
    put: async (context: ObjectContext, hint: Hint): Promise<void> => {
      const board = (await context.get<Board>("board")) ?? empty;
      const last = board.last + 1;
      const { [hint.sender]: own, ...others } = board.waiting;
      for (const awakeable of Object.values(others))
        context.resolveAwakeable(awakeable, { last, hints: [hint] } satisfies News);
      const waiting = own === undefined ? {} : { [hint.sender]: own };
      context.set("board", {
        last,
        hints: [...board.hints, hint].slice(-keptHints),
        waiting,
      } satisfies Board);
    },
    /** Notes that a node waits, unless there are hints for it. */
    register: async (context: ObjectContext, argument: Waiting & { awakeable: string }): Promise<void> => {
      const { node, after, awakeable } = argument;
      const board = (await context.get<Board>("board")) ?? empty;
      const news = newsFor(board, argument);
      if (after < 0 || news.hints.length > 0) return context.resolveAwakeable(awakeable, news);
      const waiting = { ...board.waiting, [node]: awakeable };
      context.set("board", { ...board, waiting } satisfies Board);
    },
    wait: handlers.object.shared(async (context: ObjectSharedContext, argument: Waiting): Promise<News> => {
      const { id: awakeable, promise } = context.awakeable<News>();
      context.genericSend({
        service: hintsName,
        key: context.key,
        method: "register",
        parameter: { ...argument, awakeable },
        inputSerde: json,
      });
      try {
        return await promise.orTimeout(waitingTime);
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        return newsFor((await context.get<Board>("board")) ?? empty, argument);
      }
    }),
  },
  options: objectSettings,
});

/** The hints of other nodes after the last that a node has seen. */
function newsFor({ last, hints: kept }: Board, { node, after }: Waiting): News {
  if (after < 0) return { last, hints: [] };
  if (after < last - kept.length) return { last, hints: [missed] };
  const others = kept.slice(kept.length - (last - after)).filter(({ sender }) => sender !== node);
  return { last, hints: others };
}
