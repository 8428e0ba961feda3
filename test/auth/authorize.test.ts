// authorize: the host's function that allows or denies actions, and the defaults without it.
import { type AuthorizationRequest, type Authorize, ForbiddenError } from "@andante/server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { startApproval } from "../support/executions.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

let server: TestServer;

async function serveWith(authorize?: Authorize): Promise<void> {
  server = await serveForTest({ auth: provider(), ...(authorize && { authorize }) });
}
const as = async (user: string) => bearer(await tokenFor(user));

async function executeAs(user: string): Promise<string> {
  const answer = await server.post("/workflows/sum/execute", { input: { a: 1 } }, await as(user));
  return String(dataOf(answer).executionId);
}
async function approvalOf(user: string): Promise<string> {
  const body = { input: { topic: "tests" } };
  const answer = await server.post("/workflows/approval/execute", body, await as(user));
  return `/workflows/approval/executions/${dataOf(answer).executionId}`;
}
async function listed(path: string, headers: Record<string, string>): Promise<unknown[]> {
  return listOf(dataOf(await server.get(path, headers)), "executions").map((each) => each.executionId);
}
/** The executions that are counted, of any status. */
async function counted(query: string, headers: Record<string, string>): Promise<number> {
  const counts = Object.values(dataOf(await server.get(`/api/execution-counts${query}`, headers)));
  return counts.reduce<number>((sum, each) => sum + z.object({ count: z.number() }).parse(each).count, 0);
}

describe("without it", () => {
  test("lists show a caller its own, with any filter", async () => {
    await serveWith();
    const mine = await executeAs("ada");
    const other = await executeAs("eve");
    const ada = await as("ada");
    expect(await listed("/api/executions", ada)).toEqual([mine]);
    expect(await listed("/workflows/sum/executions", ada)).toEqual([mine]);
    expect(await listed("/api/executions?userId=ada", ada)).toEqual([mine]);
    expect(await listed("/api/executions?userId=eve", ada)).toEqual([]);
    expect(await listed(`/api/executions?id=${other}`, ada)).toEqual([]);
    const queries = ["", "?userId=ada", "?userId=eve", `?id=${other}`];
    expect(await Promise.all(queries.map((query) => counted(query, ada)))).toEqual([1, 1, 0, 0]);
  });

  test("a caller without a userId sees nothing", async () => {
    server = await serveForTest({ auth: { type: "test", verifyToken: () => ({ name: "nameless" }) } });
    await server.post("/workflows/sum/execute", { input: { a: 1 } }, bearer("any"));
    expect(await listed("/api/executions", bearer("any"))).toEqual([]);
    expect(await listed("/api/executions?userId=", bearer("any"))).toEqual([]);
    expect(await counted("", bearer("any"))).toBe(0);
    expect(await counted("?userId=", bearer("any"))).toBe(0);
  });

  test("a public list shows a caller without a token nothing", async () => {
    server = await serveForTest({ auth: provider({ publicRoutes: ["GET /api/*"] }) });
    await executeAs("ada");
    expect(await listed("/api/executions", {})).toEqual([]);
    expect(await listed("/api/executions?userId=ada", {})).toEqual([]);
    expect(await counted("?userId=ada", {})).toBe(0);
  });

  test("steering follows the contract: the approver is seldom the starter", async () => {
    await serveWith();
    const execution = await approvalOf("ada");
    const answer = await server.post(
      `${execution}/resume`,
      { resumeData: { approved: true } },
      await as("eve"),
    );
    expect(dataOf(answer).status).toBe("completed");
  });

  test("without authentication everyone sees everything", async () => {
    server = await serveForTest();
    const { executionId } = await startApproval(server, { userId: "ada" });
    expect(await listed("/api/executions", {})).toEqual([executionId]);
  });
});

describe("with it", () => {
  test("it receives the user, the action and the resource", async () => {
    const asked: AuthorizationRequest[] = [];
    await serveWith((request) => {
      asked.push(request);
      return true;
    });
    const execution = await approvalOf("ada");
    await server.get(`${execution}/state`);
    const executionId = execution.split("/").at(-1);
    expect(asked).toEqual([
      {
        user: { id: "ada", roles: ["reader"] },
        userId: "ada",
        action: "workflows.execute",
        resource: { id: "approval", workflowId: "approval" },
      },
      {
        user: undefined,
        userId: undefined,
        action: "executions.read",
        resource: { id: "approval", workflowId: "approval", executionId },
      },
      {
        user: undefined,
        userId: undefined,
        action: "executions.read",
        resource: { id: "approval", workflowId: "approval", executionId, userId: "ada" },
      },
    ]);
  });

  test("false is 403 and nothing happens, on public routes too", async () => {
    await serveWith(({ action }) => action !== "workflows.execute" && action !== "workflows.list");
    const answer = await server.post("/workflows/sum/execute", { input: { a: 1 } }, await as("ada"));
    expect(errorOf(answer, 403)).toBe("Not allowed: workflows.execute");
    expect(errorOf(await server.get("/workflows"), 403)).toBe("Not allowed: workflows.list");
    expect((await server.andante.list({})).executions).toEqual([]);
  });

  test("no token on a protected route is 401 before it is asked", async () => {
    await serveWith(() => {
      throw new Error("asked");
    });
    expect(errorOf(await server.get("/api/executions"), 401)).toBe("Authentication required");
  });

  test("true shows everyone's, own the caller's", async () => {
    await serveWith(async ({ userId }) => (userId === "root" ? true : "own"));
    const first = await executeAs("ada");
    const second = await executeAs("eve");
    expect(await listed("/api/executions", await as("root"))).toEqual([second, first]);
    expect(await listed("/api/executions?userId=ada", await as("root"))).toEqual([first]);
    expect(await listed("/api/executions", await as("eve"))).toEqual([second]);
  });

  test("own on one execution lets only its owner in", async () => {
    await serveWith(({ action }) => (action.startsWith("executions.") ? "own" : true));
    const execution = await approvalOf("ada");
    for (const headers of [{}, await as("eve")]) {
      expect(errorOf(await server.get(`${execution}/state`, headers), 403)).toBe(
        "Not allowed: executions.read",
      );
      expect(errorOf(await server.post(`${execution}/resume`, {}, headers), 403)).toBe(
        "Not allowed: executions.resume",
      );
    }
    expect((await server.get(`${execution}/state`, await as("ada"))).status).toBe(200);
    const unknown = "/workflows/approval/executions/unknown/state";
    expect((await server.get(unknown, await as("ada"))).status).toBe(404);
  });

  test.each([undefined, null, 0, "", "yes", "all", 1])("the answer %j is no yes", async (word) => {
    await serveWith(() => JSON.parse(JSON.stringify({ word })).word);
    expect(errorOf(await server.get("/workflows"), 403)).toBe("Not allowed: workflows.list");
  });

  test("an error in it is 500 without its words, and a ForbiddenError is 403", async () => {
    await serveWith(({ action }) => {
      throw action === "workflows.list" ? new Error("password hunter2") : new ForbiddenError({ action });
    });
    expect(errorOf(await server.get("/workflows"), 500)).toBe("Internal server error");
    expect(errorOf(await server.get("/health"), 403)).toBe("Not allowed: health.read");
  });
});
