// A turn that runs: how it is stopped, and which readers get its reply.
import { expect, test, vi } from "vitest";
import { ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import { RunningReply } from "../reply/running-reply.ts";
import { ActiveTurn } from "./active-turn.ts";

const read = () => new RunningReply().read();

test("a caller that leaves stops it, unless others may attach or it has ended", () => {
  const gone = new ActiveTurn("a", AbortSignal.abort(), () => undefined);
  expect(gone.signal.reason).toEqual(new ReplyStoppedError());
  const controllers = [new AbortController(), new AbortController(), new AbortController()];
  const turns = controllers.map(({ signal }) => new ActiveTurn("a", signal, () => undefined));
  turns[1]?.allowAttach(new RunningReply(), read);
  turns[2]?.end();
  for (const controller of controllers) controller.abort();
  expect(turns.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
});

test("it ends once for its owner, and those who wait for it go on", async () => {
  const ended = vi.fn();
  const turn = new ActiveTurn("a", undefined, ended);
  turn.end();
  expect(ended.mock.calls).toEqual([[turn]]);
  await Promise.all([turn.over, turn.hasBegun]);
  expect(await turn.shared()).toBeUndefined();
});

test("its reply is shared as a chat or as a text, whichever comes first", async () => {
  const chat = new ActiveTurn("a", undefined, () => undefined);
  chat.allowAttach(new RunningReply(), read);
  expect(await chat.shared()).toEqual({ mode: "chat", read });
  const text = new ActiveTurn("a", undefined, () => undefined);
  const reply = Promise.resolve(Object({ text: "hi" }));
  text.shareText(reply);
  text.end();
  expect(await text.shared()).toEqual({ mode: "text", reply });
});

test("readers attach while the reply is whole", () => {
  const turn = new ActiveTurn("a", undefined, () => undefined);
  expect([turn.isAttachable, turn.attach()]).toEqual([false, undefined]);
  const reply = new RunningReply(1);
  turn.allowAttach(reply, () => reply.read());
  expect([turn.isAttachable, turn.attach() !== undefined]).toEqual([true, true]);
  for (const id of ["1", "2"]) reply.append({ type: "text-delta", id, delta: "long" });
  expect([turn.isAttachable, turn.attach()]).toEqual([true, undefined]);
});

test("it is stopped when it has no reader, but not after a restart, when its readers may come back", async () => {
  for (const isRecovered of [false, true]) {
    const turn = new ActiveTurn("a", undefined, () => undefined);
    turn.isRecovered = isRecovered;
    turn.stopWhenUnread();
    expect(turn.signal.aborted).toBe(false);
    const reply = new RunningReply();
    const reader = reply.read();
    turn.allowAttach(reply, read);
    turn.stopWhenUnread();
    expect(turn.signal.aborted).toBe(false);
    await reader.return?.();
    expect(turn.signal.aborted).toBe(!isRecovered);
  }
  const stopped = new ActiveTurn("a", undefined, () => undefined);
  stopped.stop(new ShuttingDownError());
  expect(stopped.signal.reason).toEqual(new ShuttingDownError());
});
