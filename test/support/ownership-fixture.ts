// Users whose executions, conversations, lines and traces carry their name, and the hosts and callers that look at them.
import { createWorkflow } from "@andante/core";
import { type Authorize, createJWT } from "@andante/server";
import { z } from "zod";
import { agents } from "./agents.ts";
import { serveForTest, type TestServer } from "./serve-for-test.ts";
import { audience, bearer, provider, secret } from "./tokens.ts";

/** Seeded data belongs to one of these, or to the server itself. Each of its texts and ids contains `of-<owner>`. */
export const owners = ["alice", "bob", "nobody"] as const;
export type Owner = (typeof owners)[number];

/** Logs texts that no other user may read, and fails at the end. */
const talk = createWorkflow({ id: "talk", input: z.object({ text: z.string() }) })
  .andThen({
    id: "speak",
    execute: ({ data, logger }) => {
      logger.info({ text: data.text }, "the step speaks");
      return data;
    },
  })
  .andThen({
    id: "fail",
    execute: ({ data }) => {
      throw new Error(`trouble ${data.text}`, { cause: new Error(`cause ${data.text}`) });
    },
  });

/** How the host decides. */
export const hosts: Readonly<Record<string, Authorize | undefined>> = {
  "no authorize": undefined,
  own: () => "own",
  all: () => true,
  operators: ({ user }) => (Array.isArray(user?.roles) && user.roles.includes("operator") ? true : "own"),
  no: () => false,
};

const tokenOf = (payload: object) => createJWT({ ...payload }, secret, { audience });

/** Who looks, with a token in the header; `none` has none. */
export const tokens: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  alice: await tokenOf({ sub: "alice" }),
  bob: await tokenOf({ sub: "bob" }),
  nameless: await tokenOf({ roles: ["reader"] }),
  operator: await tokenOf({ sub: "olga", roles: ["operator"] }),
};
export const headersOf = (caller: string) => {
  const token = tokens[caller];
  return token === undefined ? {} : bearer(token);
};

/** The seeded data that a caller may see: nothing at all is an empty list, `refused` a 403. */
export type Sight = "refused" | "outline" | readonly (Owner | "server")[];

/** Written by hand, from the rules: the logs are open to any caller; for the rest an outline is a 401. */
export function sightOf(host: string, caller: string): Sight {
  const everything = [...owners, "server"] as const;
  if (host === "no") return "refused";
  if (caller === "none") return host === "no authorize" || host === "all" ? "outline" : [];
  if (host === "all" || (host === "operators" && caller === "operator")) return everything;
  return caller === "alice" || caller === "bob" ? [caller] : [];
}

/** Whose texts and ids these are. */
export function ownersIn(text: string): string[] {
  const found = [...text.matchAll(/of-(alice|bob|nobody|server)/g)].map(([, owner = ""]) => owner);
  return [...new Set(found)].sort();
}

export function serveOwnedData(host: string, auth: Parameters<typeof provider>[0] = {}): Promise<TestServer> {
  const authorize = hosts[host];
  return serveForTest({ workflows: { talk }, agents, auth: provider(auth), ...(authorize && { authorize }) });
}

/** Lets every owner run the workflow, and the server say something of its own. */
export async function speak(server: TestServer, round = ""): Promise<void> {
  for (const owner of owners) {
    const name = `of-${owner}`;
    const user = owner === "nobody" ? {} : { userId: owner };
    const ids = { executionId: `execution-${name}${round}`, conversationId: `conversation-${name}` };
    await server.andante.execute("talk", { text: name }, { ...ids, ...user, context: { note: name } });
  }
  server.andante.logger.info({ text: "of-server" }, "the server speaks");
}

/** Lets every owner talk with an agent. */
export async function converse(server: TestServer): Promise<void> {
  for (const owner of owners) {
    const user = owner === "nobody" ? {} : { userId: owner };
    const options = { ...user, conversationId: `conversation-of-${owner}` };
    await server.andante.agents.text("echo", `hello of-${owner}`, options);
  }
}
