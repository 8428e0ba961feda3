// The console in a real Chromium: signing in on a page of the host, with a token in the fragment or with a cookie.
import { type AuthProvider, createJWT, InvalidTokenError, type ServeOptions } from "@andante/server";
import { afterEach, describe, expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { audience, provider, secret, tokenFor } from "../support/tokens.ts";
import { houseWorkflows } from "./console/house.ts";
import { eventually, openBrowser, openWatchedPage } from "./open-browser.ts";

describe("in Chromium", async () => {
  const browser = await openBrowser();
  const complaints: string[] = [];
  const openPage = () => openWatchedPage(browser, (problem) => complaints.push(problem));
  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  /** The addresses that both servers were asked for. */
  const asked: string[] = [];
  const record: ServeOptions["middleware"] = [
    async ({ req }, next) => {
      asked.push(req.url);
      await next();
    },
  ];
  let expiresIn = "1h";
  const host = await serveForTest({
    middleware: record,
    configureApp: (app) =>
      void app.get("/sign-in", async (http) => {
        const { return_to: back = "", state = "" } = http.req.query();
        const token = await createJWT({ sub: "ada" }, secret, { audience, expiresIn });
        return http.html(`<a href="${back}#${new URLSearchParams({ token, state })}">Continue as ada</a>`);
      }),
  });
  const server = await serveForTest({
    workflows: houseWorkflows,
    middleware: record,
    auth: provider({
      defaultPrivate: true,
      publicRoutes: ["GET /console*"],
      signInUrl: `${host.url}/sign-in?theme=plain`,
    }),
  });
  const address = `${server.url}/console/workflows/refund?tab=run`;

  test("the host's page leads back with a token, which is in no address; another sign-in than that of the tab is refused", async () => {
    const page = await openPage();
    await page.goto(address);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Continue as ada" }).click();
    await page.locator(".foot", { hasText: "as ada" }).waitFor();
    expect(page.url()).toBe(address);
    const [left] = asked.filter((each) => each.startsWith(host.url));
    const { theme, return_to, state = "" } = Object.fromEntries(new URL(left ?? "").searchParams);
    expect({ theme, return_to }).toEqual({ theme: "plain", return_to: address });
    expect(state).toMatch(/^[0-9a-f]{32}$/);
    const token = await tokenFor("bob");
    const goWith = (other: string) =>
      page.goto(`${server.url}/console/?${other}#${new URLSearchParams({ token, state: other })}`);
    // The user stays signed in.
    await goWith(state);
    await page.locator(".foot", { hasText: "as ada" }).waitFor();
    await page.getByRole("button", { name: "sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    for (const other of [state, "another", ""]) {
      await goWith(other);
      await eventually(() => page.getByRole("alert").textContent()).toMatch(/^The sign-in was not begun/);
      expect(new URL(page.url()).hash).toBe("");
    }
    expect(asked.filter((each) => each.includes("token="))).toEqual([]);
    await page.getByText("Use a token instead").click();
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Use this token" }).click();
    await page.locator(".foot", { hasText: "as bob" }).waitFor();
    await page.context().close();
  });

  test("before the end of a token another tab signs in, and the page keeps the text in it", async () => {
    const page = await openPage();
    await page.goto(address);
    expiresIn = "100s";
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Continue as ada" }).click();
    const bar = page.getByText("Your sign-in ends soon.");
    await bar.waitFor();
    const reason = page.getByLabel(/^Reason/);
    await reason.fill("half a sentence");
    expiresIn = "1h";
    const opened = page.context().waitForEvent("page");
    await page.getByRole("button", { name: "Sign in" }).click();
    const tab = await opened;
    await tab.getByRole("link", { name: "Continue as ada" }).click();
    await tab.locator(".foot", { hasText: "as ada" }).waitFor();
    expect(await tab.evaluate("opener")).toBe(null);
    expect(await page.evaluate('sessionStorage.getItem("andante-sign-in")')).toBe(null);
    await page.bringToFront();
    await eventually(() => bar.count()).toBe(0);
    await eventually(() => reason.inputValue()).toBe("half a sentence");
    await page.context().close();
  });

  test("a host with sessions leads back with a cookie; the open page is live again after the next sign-in, and starts anew for another user", async () => {
    const sessions = new Map<string, string>();
    let user = "ada";
    const auth: AuthProvider = {
      type: "session",
      defaultPrivate: true,
      publicRoutes: ["GET /console*", "GET /sign-in"],
      signInUrl: "/sign-in",
      extractToken: (request) => /session=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1],
      verifyToken: (token) => {
        const id = sessions.get(token);
        if (id === undefined) throw new InvalidTokenError({ reason: "unknown session" });
        return { id };
      },
    };
    const own = await serveForTest({
      workflows: houseWorkflows,
      auth,
      configureApp: (app) =>
        void app.get("/sign-in", (http) => {
          const session = crypto.randomUUID();
          sessions.set(session, user);
          http.header("set-cookie", `session=${session}; Path=/; HttpOnly; SameSite=Lax`);
          return http.redirect(http.req.query("return_to") ?? "");
        }),
    });
    const page = await openPage();
    // A feed that breaks off, so that it is asked for again and again.
    await page.route("**/api/changes", (route) => route.fulfill({ body: 'data: {"type":"open"}\n\n' }));
    await page.goto(`${own.url}/console/workflows/refund?tab=run`);
    await page.getByRole("button", { name: "Sign in" }).click();
    const foot = page.locator(".foot");
    await eventually(() => foot.textContent()).toContain("as ada");
    expect(await page.getByRole("button", { name: "sign out" }).count()).toBe(0);
    const reason = page.getByLabel(/^Reason/);
    await reason.fill("half a sentence");
    sessions.clear();
    await page.unroute("**/api/changes");
    const bar = page.getByText("Your sign-in has ended.");
    await bar.waitFor();
    await eventually(() => foot.textContent()).toMatch(/^Not live/);
    const signIn = async () => {
      const opened = page.context().waitForEvent("page");
      await page.getByRole("button", { name: "Sign in" }).click();
      await eventually(async () => (await opened).locator(".foot").textContent()).toContain(`as ${user}`);
      await page.bringToFront();
      await eventually(() => bar.count()).toBe(0);
      await eventually(() => foot.textContent()).toMatch(/^Live/);
    };
    const isReadAgain = page.waitForRequest(`${own.url}/workflows/refund`);
    await signIn();
    await isReadAgain;
    expect(await reason.inputValue()).toBe("half a sentence");
    sessions.clear();
    user = "bob";
    await bar.waitFor();
    await signIn();
    await eventually(() => foot.textContent()).toContain("as bob");
    // The value of the example, as in a page that was just opened.
    await eventually(() => reason.inputValue()).toBe("demo reason");
    await page.context().close();
  });
});
