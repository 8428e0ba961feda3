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
  /** Whether other nodes wait too. */
  readonly hasOthers: boolean;
}

export interface Waiting {
  readonly node: string;
  /** The number of the last hint that the node has seen; -1 when it has just begun to wait. */
  readonly after: number;
  /** The node knows of no other one. */
  readonly isAlone: boolean;
}

interface Waiter {
  readonly awakeable: string;
  readonly isAlone: boolean;
}

interface Board {
  readonly last: number;
  /** The last hints, oldest first. */
  readonly hints: readonly Hint[];
  /** The nodes that wait. */
  readonly waiting: Readonly<Record<string, Waiter>>;
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
    /** Keeps a hint and returns whether other nodes were waiting for it. */
    put: async (context: ObjectContext, hint: Hint): Promise<boolean> => {
      const board = (await context.get<Board>("board")) ?? empty;
      const last = board.last + 1;
      const kept = [...board.hints, hint].slice(-keptHints);
      const isOther = (node: string) => node !== hint.sender;
      const waiting = wake(context, board, isOther, { last, hints: [hint], hasOthers: true });
      context.set("board", { last, hints: kept, waiting } satisfies Board);
      return Object.keys(board.waiting).some(isOther);
    },
    /** Notes that a node waits, unless there is news for it: a hint, or another node. */
    register: async (context: ObjectContext, argument: Waiting & Waiter): Promise<void> => {
      const { node, after, awakeable, isAlone } = argument;
      const board = (await context.get<Board>("board")) ?? empty;
      const news = newsFor(board, argument);
      const isLonely = (other: string, waiter: Waiter) => other !== node && waiter.isAlone;
      const others = wake(context, board, isLonely, { last: board.last, hints: [], hasOthers: true });
      const hasNews = after < 0 || news.hints.length > 0 || (isAlone && news.hasOthers);
      if (hasNews) context.resolveAwakeable(awakeable, news);
      const waiting = hasNews ? others : { ...others, [node]: { awakeable, isAlone } };
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

/** Replies to some of the nodes that wait, and returns the others. */
function wake(
  context: ObjectContext,
  { waiting }: Board,
  isWoken: (node: string, waiter: Waiter) => boolean,
  news: News,
): Board["waiting"] {
  const entries = Object.entries(waiting);
  for (const [node, waiter] of entries)
    if (isWoken(node, waiter)) context.resolveAwakeable(waiter.awakeable, news);
  return Object.fromEntries(entries.filter((entry) => !isWoken(...entry)));
}

/** The hints of other nodes after the last that a node has seen. */
function newsFor({ last, hints: kept, waiting }: Board, { node, after }: Waiting): News {
  const hasOthers = Object.keys(waiting).some((other) => other !== node);
  if (after < 0) return { last, hints: [], hasOthers };
  if (after < last - kept.length) return { last, hints: [missed], hasOthers };
  const others = kept.slice(kept.length - (last - after)).filter(({ sender }) => sender !== node);
  return { last, hints: others, hasOthers: hasOthers || others.some(({ sender }) => sender !== "") };
}
