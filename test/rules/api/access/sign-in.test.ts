import { describe, expect, it } from "vitest";
import { placeOf } from "../../../../src/api/access/place.ts";
import { csrfOf, targetPage } from "../../../../src/api/access/session.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../../support/door/fake-ports.ts";

const SITE = "https://edgewise.example";
const FORM = { "content-type": "application/x-www-form-urlencoded", origin: SITE };
const OWNER = "s3cret:ü";
const ID = CONFIG.run_id;
const PAGE = `${SITE}/dashboard/evaluations/${ID}`;
const LIST = `${SITE}/api/v1/evaluations`;

const deployed = (): Door => {
  const door = openDoor({ local: false, token: OWNER });
  door.run(ID).state = viewFor(CONFIG);
  return door;
};
/** Headers that differ. */
const each = (...all: Record<string, string>[]): Record<string, string>[] => all;
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const submit = (door: Door, token: string, headers: Record<string, string> = FORM, to = "/dashboard/", site = SITE) =>
  door.call("POST", `${site}/sign-in`, form({ token, to }), headers);

/** The header that a browser sends after signing in. */
async function cookieOf(door: Door, token = OWNER): Promise<string> {
  const response = await submit(door, token);
  expect(response.status).toBe(303);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}
const csrfIn = async (door: Door, cookie: string): Promise<string> =>
  /name="csrf" value="(\w+)"/.exec(await (await door.call("GET", PAGE, undefined, { cookie })).text())?.[1] ?? "";

describe("a browser that asks for a page", () => {
  it("is led to the form, by a page of the service, so that a cookie that it held back from another site's link is shown", async () => {
    const door = deployed();
    const led = await door.call("GET", `${PAGE}?page=1`, undefined, { accept: "text/html,*/*" });
    expect(led.status).toBe(401);
    expect(led.headers.get("www-authenticate")).toBe(null);
    const text = await led.text();
    expect(text).toContain(`<meta http-equiv="refresh" content="0; url=/sign-in?to=%2Fdashboard%2Fevaluations%2F${ID}%3Fpage%3D1">`);
    expect(text).not.toContain(CONFIG.model);
    const asked = await door.call("GET", `${SITE}/sign-in?to=%2Fdashboard%2Fevaluations%2F${ID}`);
    expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining(`name="to" value="/dashboard/evaluations/${ID}"`)]);
    expect(asked.headers.get("content-security-policy")).toContain("form-action 'self'");
    // Without it a browser sends the form with `Origin: null`.
    expect(asked.headers.get("referrer-policy")).toBe("same-origin");
    const back = await door.call("GET", `${SITE}/sign-in?to=%2Fdashboard%2Fevaluations%2F${ID}`, undefined, { cookie: await cookieOf(door) });
    expect([back.status, back.headers.get("location")]).toEqual([303, `/dashboard/evaluations/${ID}`]);
  });

  it("is told in one form of an error where it is a program", async () => {
    const response = await deployed().call("GET", PAGE);
    expect([response.status, await response.json()]).toMatchObject([401, { code: "unauthorized" }]);
  });

  it("types no token where others may read along", async () => {
    const response = await deployed().call("GET", "http://edgewise.example/sign-in?to=/dashboard/");
    expect([response.status, response.headers.get("location")]).toEqual([303, `${SITE}/sign-in?to=%2Fdashboard%2F`]);
  });
});

describe("the form", () => {
  it("takes the owner's token and a team's, and answers with a cookie that no script reads and no other site sends", async () => {
    const door = deployed();
    for (const token of [OWNER, ` ${door.people.token()} `]) {
      const response = await submit(door, token, FORM, `/dashboard/evaluations/${ID}`);
      expect([response.status, response.headers.get("location")]).toEqual([303, `/dashboard/evaluations/${ID}`]);
      expect(response.headers.get("set-cookie")).toMatch(/^__Host-edgewise-session=ew_[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict; Secure$/);
    }
    expect(JSON.stringify([...door.people.sessions.values()])).not.toContain(OWNER);
  });

  it("says no more of a wrong token than that it is one, and keeps it nowhere", async () => {
    const door = deployed();
    for (const wrong of ["s3cret", "", `ew_${"a".repeat(43)}`, "<b>typed wrong</b>"]) {
      const response = await submit(door, wrong);
      expect([response.status, response.headers.get("set-cookie")]).toEqual([401, null]);
      const text = await response.text();
      expect(text).toContain("none of this service");
      if (wrong.length > 3) expect(text).not.toContain(wrong.slice(0, 12));
    }
    expect(door.registry.audited).toHaveLength(4);
    expect(door.registry.audited[3]).toMatchObject({ user: "unknown", via: "nobody", token: null, action: "session.open", target: null, status: 401 });
    expect(JSON.stringify(door.registry.audited)).not.toContain("typed wrong");
  });

  it("is noted with its user, and with no token", async () => {
    const door = deployed();
    const token = door.people.token({ user: "ada", token: "0123456789ab" });
    await cookieOf(door, token);
    expect(door.registry.audited).toMatchObject([{ user: "ada", via: "token", token: "0123456789ab", action: "session.open", status: 303 }]);
    expect(JSON.stringify(door.registry.audited)).not.toContain(token);
  });

  it("is taken from a page of the service alone, so that nobody is signed in as another", async () => {
    const door = deployed();
    const { origin: _, ...without } = FORM;
    for (const headers of each(
      without,
      { ...FORM, origin: "null" },
      { ...FORM, origin: "https://evil.example" },
      { ...FORM, origin: "http://edgewise.example" },
    )) {
      expect((await submit(door, OWNER, headers)).status).toBe(401);
    }
    expect((await submit(door, OWNER, { ...FORM, "content-type": "text/plain" })).status).toBe(422);
    expect(door.people.sessions.size).toBe(0);
  });

  it("waits where it was tried too often, with a right token too", async () => {
    const door = deployed();
    door.people.wait = 61_001;
    const response = await submit(door, OWNER);
    expect([response.status, response.headers.get("retry-after"), response.headers.get("set-cookie")]).toEqual([429, "62", null]);
    expect(door.registry.audited).toEqual([]);
  });

  it.each([
    null,
    "",
    "//evil.example",
    "https://evil.example",
    "/dashboard/../sign-out",
    "/dashboard//evil",
    "/api/v1/tokens",
    "/dashboard/\\evil",
    "/dashboard/x\ny",
    "/dashboard/%2e%2e/sign-out",
    "/dashboard/?to=//evil.example",
    "/dashboard/environments/%2E%2e/%2e./sign-out",
    "/dashboard/environments/.%2e%2Fsign-out",
    "/dashboard/%2F%2Fevil.example",
    "/dashboard/%5Cevil.example",
    "/dashboard/%5c%5cevil.example",
    "/dashboard/x%0d%0aset-cookie:%20a=b",
    "/dashboard/x%0D%0Alocation%3A%20https%3A%2F%2Fevil.example",
    "/dashboard/x%00",
    "/dashboard/x%C2%85",
    "/dashboard/100%",
    "/dashboard/x%zz",
    "/dashboard/x%C3",
    "/dashboard/x#y",
    "/dashboard@evil.example",
  ])("leads to no other address: %j", (to) => expect(targetPage(to)).toBe("/dashboard/"));

  it("leads to a view of a page as its address says it", () => {
    const view = `/dashboard/?${new URLSearchParams({ q: "two words, 100%", status: "RUNNING,FAILED", team: "acme" })}`;
    expect(targetPage(view)).toBe(view);
    for (const name of ["acme/wiki", "nightly é 100%", "it's (new)!", "a.b~c*", "名前"]) {
      const address = `/dashboard/environments/${encodeURIComponent(name)}?version=1.0.0&team=acme`;
      expect(targetPage(address)).toBe(address);
    }
    const message = "/dashboard/evaluations/abcd1234/samples/0/1?tab=messages#m12";
    expect(targetPage(message)).toBe(message);
  });

  it("has nothing to ask at a local service without a token, and refuses pages of elsewhere there too", async () => {
    const door = openDoor();
    expect((await door.call("GET", "//sign-in?to=/dashboard/")).headers.get("location")).toBe("/dashboard/");
    expect((await door.call("GET", "http://evil.example/sign-in")).status).toBe(401);
    expect((await door.call("POST", "//sign-in", form({ token: "x" }), { ...FORM, host: "127.0.0.1" })).status).toBe(401);
    const none = openDoor({ local: false, token: null });
    expect((await none.call("GET", `${SITE}/sign-in`)).status).toBe(401);
  });

  it("works on this machine where a token is set, over http", async () => {
    const door = openDoor({ token: "t" });
    const response = await submit(door, "t", { ...FORM, origin: "http://localhost:8787", host: "localhost:8787" }, "/dashboard/", "http://localhost:8787");
    expect(response.headers.get("set-cookie")).toMatch(/^edgewise-session=ew_[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/);
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await door.call("GET", "//dashboard/", undefined, { cookie })).status).toBe(200);
  });
});

describe("the cookie", () => {
  const own = { origin: SITE };
  const fetched = { "sec-fetch-site": "same-origin" };

  it("opens pages and their files to who opens them or follows a link, and to nothing that another page embeds", async () => {
    const door = deployed();
    const cookie = await cookieOf(door);
    const link = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    for (const path of [PAGE, `${PAGE}/files/eval.log`, `${SITE}/dashboard/`]) {
      for (const headers of each({}, fetched, { "sec-fetch-site": "none" }, { "sec-fetch-site": "same-site", ...link }))
        expect((await door.call("GET", path, undefined, { cookie, ...headers })).status, path).toBe(200);
      for (const headers of each(
        { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
        { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
        { origin: "https://sister.example" },
      ))
        expect((await door.call("GET", path, undefined, { cookie, ...headers })).status, path).toBe(401);
    }
    expect((await door.call("GET", PAGE, undefined, { cookie: "__Host-edgewise-session=ew_x" })).status).toBe(401);
    // The name of a local service's, which a sister domain could set.
    expect((await door.call("GET", PAGE, undefined, { cookie: cookie.replace("__Host-", "") })).status).toBe(401);
  });

  it("reads /api for a page of the service, and for nobody else", async () => {
    const door = deployed();
    const cookie = await cookieOf(door);
    for (const headers of each(own, fetched, { ...own, ...fetched }))
      expect((await door.call("GET", LIST, undefined, { cookie, ...headers })).status).toBe(200);
    for (const headers of each(
      {},
      { origin: "null" },
      { origin: "https://evil.example", ...fetched },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
    ))
      expect((await door.call("GET", LIST, undefined, { cookie, ...headers })).status, JSON.stringify(headers)).toBe(401);
  });

  it("changes something only with the page's CSRF token, and as the token that was typed may", async () => {
    const door = deployed();
    const cookie = await cookieOf(door, door.people.token({ scopes: ["runs:write"] }));
    const csrf = await csrfIn(door, cookie);
    const cancel = async (headers: Record<string, string>) =>
      (await door.call("POST", `${SITE}/api/v1/evaluations/${ID}/interrupt`, undefined, { cookie, ...headers })).status;
    for (const headers of each(
      {},
      own,
      { ...own, ...fetched },
      { "x-edgewise-csrf": csrf },
      { ...fetched, "x-edgewise-csrf": csrf },
      { ...own, "x-edgewise-csrf": "0".repeat(32) },
      { origin: "https://evil.example", "x-edgewise-csrf": csrf },
    ))
      expect(await cancel(headers), JSON.stringify(headers)).toBe(401);
    expect(door.run(ID).interrupts).toBe(0);
    expect(await cancel({ ...own, "x-edgewise-csrf": csrf })).toBe(200);
    expect(door.registry.audited.at(-1)).toMatchObject({ user: "ada", via: "session", token: "0123456789ab", action: "run.interrupt" });
    const tokens = await door.call("GET", `${SITE}/api/v1/tokens`, undefined, { cookie, ...own });
    expect(tokens.status).toBe(403);
  });

  it("counts nowhere else, and not beside another credential", async () => {
    const door = deployed();
    const cookie = await cookieOf(door);
    for (const path of ["/internal/operations", "/embedded/v1/models"])
      expect((await door.call("GET", SITE + path, undefined, { cookie, ...own, ...fetched })).status, path).toBe(401);
    for (const authorization of ["Bearer wrong", `Basic ${btoa(`me:${OWNER}`)}`, `Bearer ${cookie.split("=")[1]}`])
      expect((await door.call("GET", LIST, undefined, { cookie, ...own, authorization })).status, authorization).toBe(401);
  });

  it("of the owner is over when the owner's token is another", async () => {
    const door = deployed();
    const cookie = await cookieOf(door);
    const other = openDoor({ local: false, token: "changed" });
    for (const [digest, session] of door.people.sessions) other.people.sessions.set(digest, session);
    expect((await other.call("GET", LIST, undefined, { cookie, ...own })).status).toBe(401);
    expect((await door.call("GET", LIST, undefined, { cookie, ...own })).status).toBe(200);
  });

  it("is looked up once in ten seconds", async () => {
    const door = deployed();
    const cookie = await cookieOf(door);
    const asked: string[] = [];
    const { session } = door.people;
    door.people.session = (digest) => {
      asked.push(digest);
      return session.call(door.people, digest);
    };
    for (let n = 0; n < 20; n++) expect((await door.call("GET", LIST, undefined, { cookie, ...own })).status).toBe(200);
    expect(asked).toHaveLength(1);
  });
});

describe("signing out", () => {
  it("ends the session where it is kept, by the button of a page and by no other page", async () => {
    const door = deployed();
    const cookie = await cookieOf(door);
    const csrf = await csrfIn(door, cookie);
    const leave = (fields: Record<string, string>, headers: Record<string, string>) =>
      door.call("POST", `${SITE}/sign-out`, form(fields), { ...FORM, cookie, ...headers });
    expect((await leave({}, {})).status).toBe(401);
    expect((await leave({ csrf: "0".repeat(32) }, {})).status).toBe(401);
    expect((await leave({ csrf }, { origin: "https://evil.example" })).status).toBe(401);
    expect(door.people.sessions.size).toBe(1);
    const left = await leave({ csrf }, {});
    expect([left.status, left.headers.get("location"), left.headers.get("set-cookie")]).toEqual([
      303,
      "/sign-in",
      "__Host-edgewise-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
    ]);
    expect((await door.call("GET", PAGE, undefined, { cookie })).status).toBe(401);
    expect(door.registry.audited.at(-1)).toMatchObject({ user: "edgewise", via: "session", action: "session.end", status: 303 });
  });

  it("is for who signed in: pages that a token opens have no button", async () => {
    const door = deployed();
    const page = await (await door.call("GET", PAGE, undefined, { authorization: `Bearer ${OWNER}` })).text();
    expect(page).not.toContain("Sign out");
    const cookie = await cookieOf(door);
    expect(await csrfIn(door, cookie)).toBe(await csrfOf(cookie.split("=")[1] ?? ""));
  });
});

it.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3::4", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["nonsense:", "nonsense:"],
])("attempts from %s are counted as of %s", (address, place) => {
  expect(placeOf(new Request(SITE, { headers: { "cf-connecting-ip": address } }), false)).toBe(place);
});
