/** What two users in two teams do with the `prime` command, each with a token of their own: neither sees anything of the other. */
import assert from "node:assert/strict";
import { type Check, idsIn, says } from "./expectations.ts";
import type { PrimeClient } from "./client.ts";

const ENV = "edgewise/reverse-text";
const json = { "content-type": "application/json" };

/** A user in a team of their own, as the client has to be told. The owner makes both where they are not there. */
async function member(client: PrimeClient, user: string, team: string) {
  await client.ask(`/teams/${team}`, { method: "PUT", headers: json, body: "{}" });
  await client.ask(`/teams/${team}/members/${user}`, { method: "PUT", headers: json, body: JSON.stringify({ scopes: ["admin"] }) });
  const body = JSON.stringify({ name: "check", user, teams: [team], scopes: ["admin"] });
  const { data } = (await client.ask("/tokens", { method: "POST", headers: json, body })) as { data: { token: string } };
  return { key: data.token, env: { PRIME_TEAM_ID: team } };
}
const both = async (client: PrimeClient) => ({ ada: await member(client, "ada", "acme"), bob: await member(client, "bob", "quokkas") });

export const TEAM_CHECKS: readonly Check[] = [
  {
    name: "team-runs",
    run: async (client) => {
      const { ada, bob } = await both(client);
      const said = await client.run(ENV, ["-n", "1", "-r", "1", "--follow", "--poll-interval", "0.3", "-k", "CHECK_API_KEY"], ada);
      says(said, 0, "Status: COMPLETED");
      const [id = ""] = idsIn(said);
      says(await client.prime(["whoami"], ada), 0, "ada");
      for (const command of ["get", "samples", "logs"]) {
        says(await client.prime(["eval", command, id], ada), 0);
        says(await client.prime(["eval", command, id], bob), 1, "404");
      }
      says(await client.prime(["eval", "stop", id], bob), 1, "404");
      says(await client.prime(["eval", "list"], ada), 0, id);
      const theirs = await client.prime(["eval", "list"], bob);
      says(theirs, 0);
      assert.ok(!theirs.text.includes(id), theirs.text);
      // A team that is not theirs is none.
      says(await client.prime(["eval", "list"], { ...bob, env: ada.env }), 1, /not found/i);
    },
  },
  {
    name: "team-secrets",
    run: async (client) => {
      const { ada, bob } = await both(client);
      const value = "hidden-from-everybody";
      const made = await client.prime(["secret", "create", "-n", "SEARCH_KEY", "-v", value, "-o", "json"], ada);
      says(made, 0, "SEARCH_KEY");
      const [, id = ""] = /"id": "([^"]+)"/.exec(made.text) ?? [];
      const seen = await client.prime(["secret", "list"], ada);
      says(seen, 0, "SEARCH_KEY");
      says(await client.prime(["env", "secret", "link", id, ENV], ada), 0);
      const linked = await client.prime(["env", "secret", "list", ENV], ada);
      says(linked, 0, "SEARCH_KEY");
      says(await client.prime(["env", "secret", "create", ENV, "-n", "OWN_KEY", "-v", value], ada), 0);
      for (const { text } of [made, seen, linked]) assert.ok(!text.includes(value), text);
      for (const args of [
        ["secret", "list"],
        ["env", "secret", "list", ENV],
      ]) {
        const theirs = await client.prime(args, bob);
        says(theirs, 0);
        assert.ok(!/SEARCH_KEY|OWN_KEY/.test(theirs.text), theirs.text);
      }
      says(await client.prime(["env", "secret", "link", id, ENV], bob), 1, "404");
      says(await client.prime(["secret", "delete", id, "--yes"], bob), 1, "404");
      says(await client.prime(["env", "secret", "unlink", id, ENV, "--yes"], ada), 0);
      says(await client.prime(["secret", "delete", id, "--yes"], ada), 0);
    },
  },
  {
    name: "team-variables",
    run: async (client) => {
      const { ada, bob } = await both(client);
      says(await client.prime(["env", "var", "create", ENV, "-n", "DEPTH", "-v", "3"], ada), 0);
      says(await client.prime(["env", "var", "list", ENV], ada), 0, "DEPTH");
      const theirs = await client.prime(["env", "var", "list", ENV], bob);
      says(theirs, 0);
      assert.ok(!theirs.text.includes("DEPTH"), theirs.text);
    },
  },
];
