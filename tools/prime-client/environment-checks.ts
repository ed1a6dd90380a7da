/** `prime env`: environments that the service was put together with, and published ones, are told alike. */
import assert from "node:assert/strict";
import { MODULE, pushForm } from "../../test/support/door/push-form.ts";
import type { PrimeClient } from "./client.ts";
import { type Check, says } from "./expectations.ts";

async function push(client: PrimeClient, version: string, module: string): Promise<void> {
  const { body, type } = await pushForm({ module, visibility: "PUBLIC" });
  const at = `/environmentshub/edgewise/my-sums/@${version}`;
  const answer = await client.ask(at, { method: "PUT", body: body as Uint8Array<ArrayBuffer>, headers: { "content-type": type } });
  assert.ok("data" in answer, JSON.stringify(answer));
}

export const ENVIRONMENT_CHECKS: readonly Check[] = [
  {
    name: "env-bundled",
    run: async (client) => {
      says(await client.prime(["env", "list", "-n", "50"]), 0, "edgewise/reverse-text", "edgewise/gsm8k");
      says(await client.prime(["env", "list", "--search", "gsm8k", "--sort", "name", "--order", "asc"]), 0, "edgewise/gsm8k", "Total: 1");
      says(await client.prime(["env", "info", "edgewise/reverse-text"]), 0, "edgewise/reverse-text@latest");
      says(await client.prime(["env", "status", "edgewise/reverse-text"]), 0, "Visibility: PUBLIC", "Version:");
      says(await client.prime(["env", "version", "list", "edgewise/reverse-text"]), 0, "Latest version:");
      says(await client.prime(["env", "status", "edgewise/nothing"]), 1, "There is no environment");
    },
  },
  {
    name: "env-published",
    // What it is about was not published by the client.
    unrecorded: true,
    run: async (client) => {
      await push(client, "0.9.0", `${MODULE}// 9\n`);
      await push(client, "0.10.0", `${MODULE}// 10\n`);
      says(await client.prime(["env", "list", "--mine"]), 0, "edgewise/my-sums", "0.10.0");
      says(await client.prime(["env", "list", "--owner", "edgewise", "--visibility", "PUBLIC", "-s", "my-sums", "--output", "json"]), 0, '"version": "0.10.0"');
      says(await client.prime(["env", "info", "edgewise/my-sums@0.9.0"]), 0, "edgewise/my-sums@0.9.0", "Adds numbers.");
      says(await client.prime(["env", "status", "edgewise/my-sums"]), 0, "Version: 0.10.0", /Hash: [0-9a-f]{12}/, "Visibility: PUBLIC");
      const versions = await client.prime(["env", "version", "list", "edgewise/my-sums", "--full-hashes"]);
      says(versions, 0, "0.9.0", "Latest version: 0.10.0");
      const [, hash = ""] = /0\.9\.0[^0-9a-f]+.*?([0-9a-f]{64})/s.exec(versions.text) ?? [];
      says(await client.prime(["env", "version", "delete", "edgewise/my-sums", hash, "--force"]), 0, "deleted successfully");
      says(await client.prime(["env", "delete", "edgewise/my-sums", "--force"]), 0, "deleted successfully");
      says(await client.prime(["env", "status", "edgewise/my-sums"]), 1, "There is no environment");
    },
  },
];
