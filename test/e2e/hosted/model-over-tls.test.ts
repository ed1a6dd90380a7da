import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rowsOf, Workplace } from "../../support/cli/cli-process.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/loopback-tls/${name}`, import.meta.url));

let place: Workplace;
let server: Server;
let seen: IncomingHttpHeaders[];
beforeEach(async () => {
  place = new Workplace();
  seen = [];
  server = createServer({ key: readFileSync(fixture("key.pem")), cert: readFileSync(fixture("certificate.pem")) }, (request, response) => {
    const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "an answer" } }];
    const answer =
      request.method === "GET" ? { object: "list", data: [{ id: "m", object: "model" }] } : { id: "c", object: "chat.completion", model: "m", choices };
    if (request.method === "POST") seen.push(request.headers);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  place.remove();
  server.close();
});

it("a model behind a certificate that NODE_EXTRA_CA_CERTS names is called, without a header of the local runtime", async () => {
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const args = ["eval", "run", "reverse-text", "-m", "m", "-b", url, "-n", "3", "-r", "1"];
  expect(await place.run(args, { NODE_EXTRA_CA_CERTS: fixture("certificate.pem") })).toMatchObject({ code: 0 });
  expect(rowsOf(place.results)).toHaveLength(3);
  expect(seen).toHaveLength(3);
  for (const headers of seen) expect(Object.keys(headers).filter((name) => /^(cf|mf)-/.test(name))).toEqual([]);
});
