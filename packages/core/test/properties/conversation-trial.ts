// One random conversation: groups of actions, each group at once, in a process that may end in the middle of it.
import { setImmediate as turn } from "node:timers/promises";
import type { UIMessageChunk } from "ai";
import { Agent } from "../../src/agent/agent.ts";
import { messageOf } from "../../src/agent/conversation/kept-message.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { AndanteError } from "../../src/errors/index.ts";
import type { StoredMessage } from "../../src/store/conversation-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { createRandom, type Random } from "../support/random.ts";
import { decisionOn, modelMessage, userMessage } from "./conversation-messages.ts";
import {
  type Action,
  type Answer,
  chatOutput,
  type Messages,
  permittedStates,
  type Taken,
  viewOf,
} from "./conversation-model.ts";
import type { ConversationPlan, PlannedAction, PlannedGroup } from "./conversation-plans.ts";
import { Once } from "./once.ts";
import { type Talk, textOfRound } from "./talk.ts";
import { callsOf, seenTools, type TalkStage, toolsOf, userTexts } from "./talk-agent.ts";
import { finalText } from "./talk-reference.ts";

const agentId = "talker";
/** Turns of the event loop after which a group counts as stuck. */
const maxTurns = 3000;

let trials = 0;

export async function runConversation(store: Store, plan: ConversationPlan): Promise<string[]> {
  const trial = new ConversationTrial(store, plan);
  await trial.run();
  return trial.problems;
}

/** A process that serves the conversation. */
interface Life {
  readonly andante: Andante;
  readonly crashed: boolean;
  close(): Promise<void>;
}

class ConversationTrial {
  readonly problems: string[] = [];
  readonly #id = `conversation-${process.pid}-${++trials}`;
  readonly #store: Store;
  readonly #plan: ConversationPlan;
  readonly #random: Random;
  readonly #clock = new TestClock();
  /** The sent messages: their ids with their last text. */
  readonly #sent: { id: string; text: string }[] = [];
  #texts = 0;
  #messages: Messages = [];
  #slow: (() => void)[] = [];
  readonly #history: string[] = [];

  constructor(store: Store, plan: ConversationPlan) {
    this.#store = store;
    this.#plan = plan;
    this.#random = createRandom(plan.seed);
  }

  async run(): Promise<void> {
    let life = this.#process(undefined);
    for (const { actions, end } of this.#plan.groups) {
      if (end !== undefined && end !== "closed") {
        await life.close();
        life = this.#process(end);
      }
      const taken = await this.#runGroup(life, actions, end);
      if (end !== undefined) {
        // The next process continues the running reply, and replies to the messages that waited.
        await life.close();
        life = this.#process(undefined);
        await life.andante.ready();
        await this.#settle(
          // The queue first: a message that leaves it has its turn by then.
          async () =>
            !(await this.#isQueued()) && (await this.#store.liveTurn(this.#id))?.status !== "running",
          "a reply",
        );
      }
      await this.#check(await taken());
      if (this.problems.length > 0) break;
    }
    await life.close();
    if (this.problems.length > 0) this.problems.push(...this.#history);
  }

  #process(crash: Crash | undefined): Life {
    const life = crashingStore(this.#store, crash);
    const once = new Once();
    const stage: TalkStage = {
      asked: () => undefined,
      enters: ({ executionId, stepPath }) => {
        if (life.crashed) return () => undefined;
        const key = `${executionId} ${stepPath}`;
        const objection = once.objection(key, 0, 1);
        if (objection !== undefined) this.problems.push(objection);
        return (isDone) => {
          if (isDone) once.done(key, 0);
        };
      },
      wait: async (pace) => {
        if (pace === "soon") await turn();
        if (pace === "slow" && !life.crashed) await new Promise<void>((resolve) => this.#slow.push(resolve));
      },
    };
    const logger = new RecordingLogger();
    const andante = createAndante({
      store: life.store,
      logger,
      clock: this.#clock,
      agents: { talker: this.#agent(stage) },
    });
    let isClosed = false;
    const close = async () => {
      if (isClosed) return;
      isClosed = true;
      const closed = andante.close({ grace: 0 });
      for (const release of this.#slow.splice(0)) release();
      await closed;
      await life.bury();
      if (!life.crashed)
        this.problems.push(...logger.messages.filter((message) => message.includes("could not")));
    };
    return {
      andante,
      close,
      get crashed() {
        return life.crashed;
      },
    };
  }

  #agent(stage: TalkStage): Agent {
    const model = controlledModel(({ prompt }): Said => {
      const texts = userTexts(prompt);
      const text = texts.at(-1) ?? "";
      const talk = this.#talkOf(text);
      const own = prompt.slice(prompt.findLastIndex(({ role }) => role === "user"));
      const round = own.filter(({ role }) => role === "assistant").length;
      const hold = (piece: number) => (piece === 0 ? stage.wait(talk.pace) : undefined);
      const uses = talk.rounds[round];
      if (uses === undefined) return { text: [finalText(texts.join(" "), seenTools(own))], hold };
      const calls = callsOf(talk, round, uses).map((call) => ({
        ...call,
        id: `${text}-${round}-${call.id}`,
      }));
      return { text: [textOfRound(round)], calls, streamsInputs: talk.streamsInputs, hold };
    });
    const tools = toolsOf(stage, (_, input) => chatOutput("tool", input));
    return new Agent({ id: agentId, model, tools, maxRetries: 0 });
  }

  readonly #talkOf = (text: string): Talk => {
    const talk = this.#plan.talks[Number(text.replace(/\D/g, "")) % this.#plan.talks.length];
    if (talk === undefined) throw new Error(`no talk for ${text}`);
    return talk;
  };

  /** Takes the actions at once, and lets the world do the rest; gives their answers, as far as there are any. */
  async #runGroup(
    life: Life,
    planned: readonly PlannedAction[],
    end: PlannedGroup["end"],
  ): Promise<() => Promise<Taken[]>> {
    await life.andante.ready().catch(() => undefined);
    const last = (await this.#stored()).at(-1);
    const taken = planned.flatMap((each) => {
      const action = this.#actionOf(each, last);
      return action === undefined
        ? []
        : [{ action, mode: each.mode, answer: undefined as Answer | undefined }];
    });
    for (const each of taken) {
      this.#take(life.andante, each.action, each.mode, last)
        .catch((error: unknown) => answerOf(error, end !== undefined))
        .then((answer) => {
          // A reply that its process leaves is stopped for its reader, and goes on elsewhere.
          each.answer = answer === "stopped" && end !== undefined ? "unknown" : answer;
        })
        .catch((error: unknown) => this.problems.push(`an action failed: ${Object(error).stack}`));
    }
    if (end === "closed") {
      for (let turns = this.#random.integer(0, 60); turns > 0; turns--) await this.#step();
      await life.close();
    }
    const isAnswered = () => taken.every(({ answer }) => answer !== undefined);
    await this.#settle(async () => isAnswered() || life.crashed || this.problems.length > 0, "an answer");
    return async () => {
      // Those of a process that is over may still get an error.
      for (let turns = 0; turns < 20 && !isAnswered(); turns++) await turn();
      return taken.map(({ action, answer = "unknown" }) => ({ action, answer }));
    };
  }

  /** Undefined for a decision where nothing can be decided about. */
  #actionOf({ kind, which }: PlannedAction, last: StoredMessage | undefined): Action | undefined {
    if (kind === "stop") return { kind };
    if (kind === "decide") {
      const reply = last && modelMessage(last);
      if (reply?.role !== "assistant" || reply.status === "partial") return undefined;
      return { kind, id: reply.id, text: reply.text };
    }
    const known = this.#sent[which % Math.max(1, this.#sent.length)];
    if (kind === "post" || known === undefined) {
      const sent = { id: `u${this.#sent.length}`, text: `text ${this.#texts++}` };
      this.#sent.push(sent);
      return { kind: "post", ...sent };
    }
    if (kind === "edit") known.text = `text ${this.#texts++}`;
    return { kind: kind === "again" ? "again" : "post", ...known };
  }

  async #take(
    andante: Andante,
    action: Action,
    mode: "chat" | "text",
    last: StoredMessage | undefined,
  ): Promise<Answer> {
    const { agents } = andante;
    if (action.kind === "stop") {
      for (let turns = this.#random.integer(0, 40); turns > 0; turns--) await turn();
      await agents.stop(agentId, this.#id);
      return "ok";
    }
    const again = action.kind === "again";
    const message = action.kind === "decide" && last ? decisionOn(messageOf(last)) : userMessage(action);
    if (mode === "text" && !again) {
      await agents.text(agentId, [message], { conversationId: this.#id });
      return "ok";
    }
    return readAll(await agents.chat(agentId, [message], { conversationId: this.#id, again }));
  }

  async #isQueued(): Promise<boolean> {
    return ((await this.#store.conversations.queue({ conversationId: this.#id })) ?? []).length > 0;
  }

  async #stored(): Promise<readonly StoredMessage[]> {
    const query = { conversationId: this.#id, after: 0, limit: 1000 };
    return (await this.#store.conversations.messages(query)) ?? [];
  }

  async #settle(isSettled: () => Promise<boolean>, what: string): Promise<void> {
    for (let turns = 0; turns < maxTurns; turns++) {
      if (await isSettled()) return;
      await this.#step();
    }
    this.problems.push(`${what} does not come`);
  }

  async #step(): Promise<void> {
    if (this.#slow.length > 0 && this.#random.chance(0.5)) {
      const [release] = this.#slow.splice(this.#random.integer(0, this.#slow.length - 1), 1);
      release?.();
    }
    // A read from the store, so that its earlier calls are answered.
    await this.#store.liveTurn(this.#id);
    await turn();
  }

  /** The conversation is one of the permitted ones; from there the next group goes on. */
  async #check(group: readonly Taken[]): Promise<void> {
    const stored = await this.#stored();
    const actual = stored.map(modelMessage);
    this.#history.push(
      `${group.map((taken) => JSON.stringify(taken)).join(", ")} → ${JSON.stringify(actual)}`,
    );
    const ids = new Set(stored.map(({ messageId }) => messageId));
    if (ids.size < stored.length) this.problems.push("a message is there twice");
    // A turn whose reply has calls that wait for a decision is suspended until the next turn begins. A message that was kept
    // by a process that ended before it began the turn is after such a reply.
    const waits = actual.some(({ status }) => status === "waiting");
    const live = await this.#store.liveTurn(this.#id);
    if (live !== undefined && !(waits && live.status === "suspended")) this.problems.push("a turn is left");
    const permitted = permittedStates(this.#messages, group, this.#talkOf);
    if (!permitted.some((state) => viewOf(state) === viewOf(actual))) {
      this.problems.push(`the conversation is ${JSON.stringify(actual)}`, "permitted:");
      this.problems.push(...permitted.slice(0, 10).map((state) => `  ${JSON.stringify(state)}`));
    }
    this.#messages = actual;
  }
}

/** A reply that fails has the error in its last chunk. */
async function readAll(chunks: AsyncIterable<UIMessageChunk>): Promise<Answer> {
  let answer: Answer = "ok";
  for await (const chunk of chunks) {
    if (chunk.type === "error") answer = chunk.errorText === "The reply was stopped" ? "stopped" : "unknown";
    if (chunk.type === "abort") answer = "stopped";
  }
  return answer;
}

/** `mayEnd`: the process may end while the action is taken. */
function answerOf(error: unknown, mayEnd: boolean): Answer {
  const code = error instanceof AndanteError ? error.code : undefined;
  if (code === "conversation-conflict") return "conflict";
  if (code === "input-validation" || code === "conversation-not-found") return "refused";
  if (code === "message-withdrawn") return "withdrawn";
  if (mayEnd) return "unknown";
  if (code === "reply-stopped") return "stopped";
  throw error;
}
