import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { KNOWN_MS } from "../../../../src/api/access/principals.ts";
import { ROUTE_ACCESS, routeOf } from "../../../../src/api/access/route-access.ts";
import { createApp } from "../../../../src/api/app.ts";
import * as answers from "../../../../src/api/response-schemas.ts";
import { may, type Right } from "../../../../src/teams/caller.ts";
import { lifetime } from "../../../../src/teams/lifetime.ts";
import { allows, inBoth, SCOPES, type Scope, shortest } from "../../../../src/teams/scopes.ts";
import { isRunName, isTeam, registryName, runName, teamPrefix } from "../../../../src/teams/team-name.ts";
import { inTurn } from "../../../../src/teams/in-turn.ts";
import { openDoor } from "../../../support/door/fake-ports.ts";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const ID = "0000abcd";

/** They have a body, and change nothing; or, each few seconds, how long a command's link lives on. */
const QUESTIONS: ReadonlySet<string> = new Set([
  ...[
    ...["evaluation-settings", "evaluation-forecasts", "evaluations/:id/previews", "comparisons", "comparisons/examples"],
    ...["environmentshub/resolve", "environmentshub/lookup"],
  ].map((path) => `POST /api/v1/${path}`),
  "POST /api/datasets/:owner/:id/paths-info/:revision",
  "POST /api/v1/environments/linked/:link/lease",
]);

describe("the table of routes", () => {
  const mounted = createApp(() => {
    throw new Error("no request is made");
  }).routes.map(({ method, path }) => `${method} ${path === "/" ? path : path.replace(/\/$/, "")}`);
  // What stands before every request, and is open to everybody.
  const OPEN = ["ALL /*", "GET /health", "GET /sign-in", "POST /sign-in", "GET /dashboard/assets/:name"];
  // Open to who has a link, and to be read only.
  const byLink = (route: string): boolean => /^(?:GET|ALL) \/shared\/|^(?:GET|POST|ALL) \/beat\//.test(route);

  it("has every route that is mounted, so that none is without a right, and no other", () => {
    const routes = [...new Set(mounted)].filter((route) => !OPEN.includes(route) && route !== "ALL /internal/*" && !byLink(route));
    expect(routes.toSorted()).toEqual(Object.keys(ROUTE_ACCESS).toSorted());
  });

  it("refuses a route that it does not have", () => {
    expect(routeOf(["ALL /*", "GET /api/v1/forgotten"])).toBe(null);
    expect(routeOf(["ALL /*", "GET /api/v1/evaluations/:id"])).toMatchObject({ access: { right: "runs:read" } });
  });

  it("names what each route does that changes something, and asks for more than looking there", () => {
    for (const [route, { right, does }] of Object.entries(ROUTE_ACCESS)) {
      const changes = !/^(GET|ALL) /.test(route) && !QUESTIONS.has(route);
      expect(does !== undefined, route).toBe(changes);
      // Whoever is signed in may end that.
      if (changes && route !== "POST /sign-out") expect(["runs:write", "environments:write", "secrets:write", "admin", "owner"], route).toContain(right);
    }
  });

  it("is kept at the door: every route answers 403 to who has all scopes but those that it asks for", async () => {
    // What a route then meets is another test's.
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const door = openDoor({ local: false, token: "owner" });
    for (const [route, { right }] of Object.entries(ROUTE_ACCESS)) {
      const [method = "", pattern = ""] = route.replace("ALL ", "GET ").split(" ");
      const path = pattern
        .replace(":id", ID)
        .replace(":file", "eval.log")
        .replace(":digest", "a".repeat(64))
        .replace(":owner/:name/:version{@[^/]+}", "edgewise/gsm8k/@latest")
        .replace("*", "v1/models")
        .replaceAll(/:\w+/g, "acme")
        .replace(/dashboard$/, "dashboard/");
      const ask = async (scopes: readonly Scope[]) => (await door.call(method, `/${path}`, undefined, bearer(door.people.token({ scopes })))).status;
      const lacking = SCOPES.filter((scope) => !may({ owner: false, scopes: [scope] }, right));
      if (lacking.length > 0) expect(await ask(lacking), route).toBe(403);
      const having = SCOPES.filter((scope) => may({ owner: false, scopes: [scope] }, right));
      for (const scope of having) expect(await ask([scope]), `${route} with ${scope}`).not.toBe(403);
    }
    logged.mockRestore();
  });
});

describe("scopes", () => {
  it("include what they are of no use without, and nothing else", () => {
    const table = Object.fromEntries(SCOPES.map((scope) => [scope, SCOPES.filter((wanted) => allows([scope], wanted))]));
    expect(table).toEqual({
      "runs:read": ["runs:read"],
      "runs:write": ["runs:read", "runs:write"],
      "environments:write": ["environments:write"],
      "secrets:write": ["secrets:write"],
      admin: SCOPES,
    });
    expect(inBoth(["admin"], ["runs:write"])).toEqual(["runs:read", "runs:write"]);
    expect(inBoth(["secrets:write"], ["runs:write"])).toEqual([]);
    expect(shortest(["runs:read", "admin", "runs:write"])).toEqual(["admin"]);
  });

  it("do not make an owner", () => {
    const rights: readonly Right[] = [...SCOPES, "caller", "owner"];
    expect(rights.filter((right) => !may({ owner: false, scopes: SCOPES }, right))).toEqual(["owner"]);
    expect(rights.filter((right) => !may({ owner: true, scopes: [] }, right))).toEqual([]);
  });
});

describe("a caller", () => {
  it("of the local service without a token is its owner, whatever a client sends of elsewhere", async () => {
    const { call } = openDoor();
    for (const headers of [{}, bearer("pit_of_another_service"), { authorization: "Basic eDp5" }]) {
      expect((await call("GET", "/user/whoami?teamId=clx0", undefined, headers)).status).toBe(200);
      expect((await call("GET", "/evaluations/?team_id=clx0", undefined, headers)).status).toBe(200);
    }
    const refused = await call("GET", "/evaluations/", undefined, bearer(`ew_${"a".repeat(43)}`));
    expect([refused.status, await refused.json()]).toMatchObject([401, { detail: expect.stringContaining("revoked or over") }]);
  });

  it("is who the token stands for: user, teams and what they may do", async () => {
    const door = openDoor({ local: false, token: "owner" });
    const token = door.people.token({ user: "ada", teams: ["acme", "other"], scopes: ["runs:read"] });
    const whoami = (await (await door.call("GET", "/user/whoami", undefined, bearer(token))).json()) as { data: object };
    expect(whoami.data).toMatchObject({ id: "ada", slug: "ada", scope: { evaluations: { read: true, write: false }, secrets: { read: false, write: false } } });
    expect(answers.whoami.parse(whoami).data.edgewise).toEqual({
      owner: false,
      scopes: ["runs:read"],
      teams: ["acme", "other"],
      via: "token",
      token: expect.any(String),
      expires_at: null,
      version: expect.any(String),
      local: false,
    });
    expect(JSON.stringify(whoami)).not.toContain(token);
    const teams = await (await door.call("GET", "/user/teams?offset=1&limit=5", undefined, bearer(token))).json();
    expect(teams).toEqual({ data: [{ teamId: "other", slug: "other", name: "other" }], total_count: 2, offset: 1, limit: 5 });
  });

  it("is told all that it may do, what a scope includes among it, and until when", async () => {
    const door = openDoor({ local: false, token: "owner" });
    const edgewiseOf = async (token: string) =>
      answers.whoami.parse(await (await door.call("GET", "/user/whoami", undefined, bearer(token))).json()).data.edgewise;
    const expires_at = Date.UTC(2100, 0, 1);
    expect(await edgewiseOf(door.people.token({ scopes: ["runs:write"], expires_at }))).toMatchObject({
      scopes: ["runs:read", "runs:write"],
      expires_at: "2100-01-01T00:00:00.000Z",
    });
    expect(await edgewiseOf("owner")).toMatchObject({ owner: true, scopes: SCOPES, via: "owner", token: null, expires_at: null });
    const here = await (await openDoor().call("GET", "/user/whoami")).json();
    expect(answers.whoami.parse(here).data.edgewise).toMatchObject({ owner: true, via: "local", local: true });
  });

  it("is asked for once in a while, and forgotten with a change of anybody's rights", async () => {
    const door = openDoor({ local: false, token: "owner" });
    const token = door.people.token();
    for (let n = 0; n < 20; n++) expect((await door.call("GET", "/evaluations/", undefined, bearer(token))).status).toBe(200);
    expect(door.people.asked).toBe(1);
    expect(KNOWN_MS).toBe(10_000);
    // Those that nobody has are no call each either.
    for (let n = 0; n < 20; n++) await door.call("GET", "/evaluations/", undefined, bearer(`ew_${"b".repeat(43)}`));
    expect(door.people.asked).toBe(2);
  });

  it("names teams of its own by header or body, and hears of no other", async () => {
    const door = openDoor({ local: false, token: "owner" });
    const token = bearer(door.people.token({ teams: ["acme"] }));
    for (const team of ["other", "default", "nothing", "../acme", ""]) {
      const answers = [
        await door.call("GET", "/evaluations/", undefined, { ...token, "x-edgewise-team": team }),
        await door.call("GET", `/evaluations/?team_id=${encodeURIComponent(team || "x")}`, undefined, token),
        await door.call("POST", "/hosted-evaluations", { environment_ids: ["gsm8k"], inference_model: "m", team_id: team || "x" }, token),
      ];
      for (const answer of answers) {
        expect(answer.status, team).toBe(404);
        expect(await answer.json()).toEqual({
          detail: "Team not found.",
          code: "not_found",
          hint: "This caller works in acme; leave the team out for acme.",
        });
      }
    }
  });
});

it("an owner whose client is set up for a team of another service is not kept from anything; one that there is, and is not theirs, is refused", async () => {
  const door = openDoor({ local: false, token: "owner" });
  door.people.names.add("acme");
  const list = (team: string) => door.call("GET", `/evaluations/?team_id=${team}`, undefined, bearer("owner"));
  expect([(await list("clx0vendor")).status, (await list("default")).status, (await list("acme")).status]).toEqual([200, 200, 404]);
  expect((await door.call("GET", "/user/whoami?teamId=acme", undefined, bearer("owner"))).status).toBe(404);
});

describe("names of a team", () => {
  it("are what they were before for the default team, and hold the team's for any other", () => {
    expect([runName({ run_id: ID }), runName({ run_id: ID, team: "default" }), runName({ run_id: ID, team: "acme" })]).toEqual([ID, ID, `acme/${ID}`]);
    expect([registryName(), registryName("default"), registryName("acme")]).toEqual(["registry", "registry", "registry/acme"]);
    expect([teamPrefix(), teamPrefix("default"), teamPrefix("acme")]).toEqual(["", "", "teams/acme/"]);
    expect([ID, `acme/${ID}`, `a-b/${ID}`].every(isRunName)).toBe(true);
    expect([`/${ID}`, `acme/acme/${ID}`, `-a/${ID}`, `acme/${ID}0`, `../${ID}`, "acme/"].filter(isRunName)).toEqual([]);
  });

  it("lead to no other: what is no name of a team makes none", () => {
    for (const team of ["", "Acme", "a/b", "..", "a.b", "-a", "a-", "a".repeat(33), "acme\n", "é"]) {
      expect(isTeam(team), team).toBe(false);
      expect(() => teamPrefix(team)).toThrow(RangeError);
      expect(() => runName({ run_id: ID, team })).toThrow(RangeError);
      expect(() => registryName(team)).toThrow(RangeError);
    }
  });
});

it("an executor asks for a run by the Dispatcher's name when it joins, and by ids in the team's own ports alone: in the default team's an id would be another run", () => {
  const source = readFileSync(new URL("../../../../src/executor/executor.ts", import.meta.url), "utf8");
  expect(source.match(/this\.#ports\.run\([^)]*\)/g)).toEqual(["this.#ports.run(runId)"]);
  expect(source).not.toMatch(/this\.#ports\.store/);
  expect(source).not.toMatch(/\b(?!teamPorts)\w+\(this\.#ports, grant/);
});

describe("teams", () => {
  it("have their turns: all in each minute, the first another each time; of very many the next ones, so that none is left out", () => {
    expect([0, 1, 2, 3].map((turn) => inTurn(["a", "b", "c"], turn, 10)[0])).toEqual(["a", "c", "b", "a"]);
    expect(inTurn(["a", "b", "c"], 1, 10).toSorted()).toEqual(["a", "b", "c"]);
    expect([inTurn([], 5, 10), inTurn(["a"], 5, 10)]).toEqual([[], ["a"]]);
    const many = Array.from({ length: 25 }, (_, n) => n);
    const seen = new Set([0, 1, 2].flatMap((turn) => inTurn(many, turn, 10)));
    expect([inTurn(many, 1, 10).length, seen.size]).toEqual([10, 25]);
  });
});

it.each([
  ["30d", 30 * 86_400_000],
  ["1m", 60_000],
  ["12h", 43_200_000],
  ["3650d", 315_360_000_000],
  ["3651d", null],
  ["0d", null],
  ["30", null],
  ["-1d", null],
  ["1.5h", null],
  ["", null],
])("a lifetime of %j is %j ms", (text, ms) => {
  expect(lifetime(text)).toBe(ms);
});
