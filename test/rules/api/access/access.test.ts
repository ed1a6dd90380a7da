import { describe, expect, it, vi } from "vitest";
import { openDoor } from "../../../support/door/fake-ports.ts";

const status = async (response: Promise<Response>): Promise<number> => (await response).status;
const LIST = "/evaluations/";

describe("a deployed service", () => {
  it("refuses everything while it has no token, and says what to set", async () => {
    const door = openDoor({ local: false, token: null });
    const response = await door.call("GET", LIST, undefined, { authorization: "Bearer x" });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: "unauthorized", hint: expect.stringContaining("EDGEWISE_TOKEN") });
  });

  it("takes its token and no other", async () => {
    const door = openDoor({ local: false, token: "right" });
    const withHeader = (authorization: string) => status(door.call("GET", LIST, undefined, { authorization }));
    expect(await withHeader("Bearer right")).toBe(200);
    expect(await withHeader("bearer right")).toBe(200);
    for (const wrong of ["Bearer righ", "Bearer right1", "Bearer ", "right", "Basic right", ""]) expect(await withHeader(wrong), wrong).toBe(401);
    expect(await status(door.call("GET", LIST))).toBe(401);
    expect(await status(door.call("PUT", `/datasets/${"a".repeat(64)}`, "x"))).toBe(401);
    expect(await status(door.call("GET", "/nothing"))).toBe(401);
  });

  it("shows that it lives to everyone, but not its inside", async () => {
    const door = openDoor({ local: false, token: "right" });
    expect(await (await door.call("GET", "//health")).json()).toEqual({ status: "ok", version: "1.2.3" });
    expect(await status(door.call("GET", "//internal/operations", undefined, { authorization: "Bearer right" }))).toBe(404);
  });
});

describe("the local service", () => {
  it("needs no token, unless one is set", async () => {
    expect(await status(openDoor().call("GET", LIST))).toBe(200);
    const guarded = openDoor({ token: "t" });
    expect(await status(guarded.call("GET", LIST))).toBe(401);
    expect(await status(guarded.call("GET", LIST, undefined, { authorization: "Bearer t" }))).toBe(200);
  });

  it.each(["evil.example:8080", "127.0.0.1.evil.example", "192.168.0.2", "["])("does not answer under the name %j", async (host) => {
    const { call } = openDoor();
    expect(await status(call("GET", LIST, undefined, { host }))).toBe(401);
  });

  it.each(["localhost:8080", "127.0.0.1", "[::1]:8080"])("answers under the name %s", async (host) => {
    expect(await status(openDoor().call("GET", LIST, undefined, { host }))).toBe(200);
  });

  it("takes nothing from a web page of elsewhere, another port of this machine among it", async () => {
    const door = openDoor();
    door.run("0000abcd");
    const interrupt = (headers: Record<string, string>) => status(door.call("POST", "/evaluations/0000abcd/interrupt", undefined, headers));
    for (const origin of ["https://evil.example", "null", "http://localhost:3000", "http://localhost", "https://127.0.0.1:8787", "http://127.0.0.1:87870"]) {
      expect(await interrupt({ host: "127.0.0.1:8787", origin }), origin).toBe(401);
      expect(await status(door.call("GET", LIST, undefined, { host: "127.0.0.1:8787", origin })), origin).toBe(401);
    }
    // An older browser, or a request without an origin, that says only this much.
    for (const site of ["cross-site", "same-site"]) expect(await interrupt({ host: "127.0.0.1:8787", "sec-fetch-site": site }), site).toBe(401);
    expect(door.run("0000abcd").interrupts).toBe(0);
    const own = { host: "127.0.0.1:8787", origin: "http://127.0.0.1:8787", "sec-fetch-site": "same-origin" };
    expect(await status(door.call("POST", "/evaluation-settings", {}, own))).toBe(422);
    expect(await status(door.call("GET", LIST, undefined, own))).toBe(200);
  });

  it("is embedded in no other page, but a link to it may be followed", async () => {
    const { call } = openDoor();
    const asked = (headers: Record<string, string>, method = "GET") =>
      status(call(method, "//dashboard/", undefined, { ...headers, host: "localhost:8787", "sec-fetch-site": "same-site" }));
    for (const dest of ["iframe", "image", "script", "empty"]) expect(await asked({ "sec-fetch-mode": "no-cors", "sec-fetch-dest": dest }), dest).toBe(401);
    expect(await asked({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" })).toBe(401);
    expect(await asked({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" })).toBe(200);
    expect(await asked({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, "POST")).toBe(401);
  });

  it("says which boot it is, and counts its operations", async () => {
    expect(await (await openDoor().call("GET", "//health")).json()).toEqual({ status: "ok", version: "1.2.3", boot: "boot-1" });
    expect(await (await openDoor().call("GET", "//internal/operations")).json()).toMatchObject({
      do_requests: expect.any(Number),
      r2_class_a: expect.any(Number),
    });
  });
});

describe("an error", () => {
  it("has one form, also for a route that is none", async () => {
    const response = await openDoor().call("GET", "/nothing");
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ detail: "No such route.", code: "not_found" });
  });

  it("that nobody expected says nothing of its cause", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const door = openDoor();
    door.registry.list = () => Promise.reject(new Error("inner detail"));
    const response = await door.call("GET", LIST);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("inner");
    expect(logged).toHaveBeenCalledWith(expect.stringContaining("inner detail"));
    logged.mockRestore();
  });

  it("keeps its code when it comes from another object, without its prototype", async () => {
    const door = openDoor();
    door.registry.list = () => Promise.reject(Object.assign(new Error("older"), { name: "EdgewiseError", code: "stored_version_unknown", hint: "Update." }));
    expect(await (await door.call("GET", LIST)).json()).toEqual({ detail: "older", code: "stored_version_unknown", hint: "Update." });
    door.registry.list = () => Promise.reject(Object.assign(new Error("reset"), { retryable: true }));
    expect(await status(door.call("GET", LIST))).toBe(503);
  });
});
