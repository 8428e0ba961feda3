// Results leave a database thread in messages of a bounded length, and a result that cannot be sent fails alone.
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ResultSender } from "./result-sender.ts";
import { maxMessageLength, unpackFromThread } from "./thread-messages.ts";

function senderForTest() {
  const { port1, port2 } = new MessageChannel();
  const underWay = new Int32Array(new SharedArrayBuffer(4));
  onTestFinished(() => port1.close());
  const sender = new ResultSender(port1, underWay);
  const lengths: number[] = [];
  const received = () => {
    const messages: unknown[] = [];
    for (let next = receiveMessageOnPort(port2); next; next = receiveMessageOnPort(port2)) {
      lengths.push(next.message.length);
      messages.push(unpackFromThread(next.message));
    }
    return messages;
  };
  return { sender, received, lengths, underWay };
}

test("a message has the number of groups since the last one, also when there are no results", () => {
  const { sender, received } = senderForTest();
  sender.send([]);
  expect(received()).toEqual([]);
  sender.groupReceived();
  sender.groupReceived();
  sender.send([]);
  sender.send([{ id: 1, value: "a" }]);
  sender.groupReceived();
  sender.send([{ id: 2, value: "b" }]);
  expect(received()).toEqual([
    { groupsReceived: 2, results: [] },
    { groupsReceived: 0, results: [{ id: 1, value: "a" }] },
    { groupsReceived: 1, results: [{ id: 2, value: "b" }] },
  ]);
});

test("long results are several messages; each is read only when it can be sent, and all are counted on their way", () => {
  const { sender, received, lengths, underWay } = senderForTest();
  const value = "x".repeat(maxMessageLength - 100);
  const taken: number[] = [];
  function* results() {
    for (const id of [1, 2, 3]) {
      taken.push(id);
      yield { id, value };
    }
  }
  sender.groupReceived();
  sender.send(results());
  expect(taken).toEqual([1, 2, 3]);
  expect(received()).toMatchObject([
    { groupsReceived: 1, results: [{ id: 1 }, { id: 2 }] },
    { groupsReceived: 0, results: [{ id: 3 }] },
  ]);
  const counted = lengths.reduce((total, length) => total + length, 0);
  expect(underWay[0]).toBe(counted);
});

test("a result that is not JSON fails alone", () => {
  const { sender, received } = senderForTest();
  sender.send([
    { id: 1, value: 1n },
    { id: 2, value: 2 },
  ]);
  expect(received()).toEqual([
    {
      groupsReceived: 0,
      results: [
        { id: 1, failure: { kind: "refused", message: expect.stringMatching(/^its result is too long: /) } },
        { id: 2, value: 2 },
      ],
    },
  ]);
});
