/**
 * The real `prime` client and its Python SDK against the service on this machine, command by command:
 *
 *   python3 -m venv venv && venv/bin/pip install prime==0.18.0 prime-evals==0.2.4
 *   node tools/prime-client-check.ts venv/bin/prime [--record] [NAME...]
 *
 * and, with `vf-eval` of verifiers in place of `prime`, or beside it, what that streams:
 *
 *   python3 -m venv vf && vf/bin/pip install verifiers==0.4.0
 *   node tools/prime-client-check.ts vf/bin/vf-eval [--record]
 *
 * Needs a built `dist/`. Prints one line per check; exit code 1 when one fails. `--record` keeps what the client sent in
 * test/fixtures/prime-client, from which `npm test` goes on without Python. NAME: only checks whose name begins so.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Workplace } from "../test/support/cli/cli-process.ts";
import { startModelServer } from "../test/support/model-server/model-server.ts";
import { CHECKS } from "./prime-client/checks.ts";
import type { Check } from "./prime-client/expectations.ts";
import { PrimeClient } from "./prime-client/client.ts";
import { VF_CHECKS } from "./prime-client/vf-checks.ts";
import { type Exchange, type Recording, Scrubber, withoutRepeats } from "./prime-client/exchange.ts";
import { startRecorder } from "./prime-client/recorder.ts";

const TOKEN = "check-token";
const FIXTURES = join(import.meta.dirname, "../test/fixtures/prime-client");
const SDK = join(import.meta.dirname, "prime-client/sdk_checks.py");
const SDK_CHECKS = ["sdk-create-get-list-samples", "sdk-cancel", "sdk-errors", "sdk-async", "sdk-push", "sdk-push-async"];

const sdkCheck = (name: string): Check => ({
  name,
  run: async (client) => {
    if (name === "sdk-cancel" || name === "sdk-async") client.play({ latency_ms: 200 });
    const { code, text } = await client.python([SDK, name]);
    if (code !== 0) throw new Error(text);
  },
});

const { values: record, rest } = split(process.argv.slice(2));
const [program, ...names] = rest;
if (program === undefined) {
  console.error("usage: node tools/prime-client-check.ts PATH/TO/prime [--record] [NAME...]");
  process.exit(2);
}
const prime = resolve(program);
const VERSIONS = `from importlib.metadata import distributions as all
known = {each.metadata["Name"]: each.version for each in all()}
print(", ".join(f"{name} {known[name]}" for name in ("prime", "prime-evals", "verifiers", "prime-runs") if name in known))`;
const version = execFileSync(join(dirname(prime), "python"), ["-c", VERSIONS])
  .toString()
  .trim();
/** Whether a program is in the virtual environment. */
const has = (name: string): boolean => existsSync(join(dirname(prime), name));

const place = new Workplace();
const model = await startModelServer();
const serve = place.start(["serve", "--port", "0"], { EDGEWISE_TOKEN: TOKEN, CHECK_API_KEY: "of-the-check" });
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    place.remove();
    process.exit(130);
  });
}
let failed = 0;
try {
  await serve.says("Edgewise listens on", 30_000);
  const [, service = ""] = /listens on (\S+)/.exec(serve.stdout()) ?? [];
  const recorder = await startRecorder(service);
  const client = new PrimeClient({ prime, url: recorder.url, token: TOKEN, model });
  try {
    const known = [...(has("prime") ? [...CHECKS, ...SDK_CHECKS.map(sdkCheck)] : []), ...(has("vf-eval") ? VF_CHECKS : [])];
    const checks = known.filter(({ name }) => names.length === 0 || names.some((begin) => name.startsWith(begin)));
    for (const check of checks) failed += (await passes(check, client, recorder)) ? 0 : 1;
    console.log(`${version}: ${checks.length - failed} of ${checks.length} checks passed`);
  } finally {
    client.remove();
    await recorder.close();
  }
} finally {
  place.remove();
  await model.close();
}
process.exit(failed === 0 ? 0 : 1);

async function passes(check: Check, client: PrimeClient, recorder: Awaited<ReturnType<typeof startRecorder>>): Promise<boolean> {
  const began = performance.now();
  client.play({});
  recorder.take();
  try {
    await check.run(client);
  } catch (error) {
    console.log(`FAILED  ${check.name}\n${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  }
  console.log(`ok      ${check.name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  if (record && check.unrecorded !== true) await keep(check, client, recorder);
  return true;
}

/** What the client sent, and uploads made for it; this program's own looks at the service are not part of it. */
async function keep({ name }: Check, client: PrimeClient, recorder: Awaited<ReturnType<typeof startRecorder>>): Promise<void> {
  const scrubber = new Scrubber([
    [client.model.url, "{model}"],
    [client.url, "{service}"],
    [TOKEN, "{token}"],
    [client.home, "{home}"],
  ]);
  const sent = recorder.take().filter(({ method, headers }) => method === "PUT" || /^prime/.test(String(headers["user-agent"])));
  const exchanges: Exchange[] = [];
  // One after the other: what one of them created stands in the next.
  for (const exchange of sent) exchanges.push(await scrubber.scrub(exchange));
  const recording: Recording = {
    client: version,
    check: name,
    script: client.script,
    exchanges: withoutRepeats(exchanges),
  };
  mkdirSync(FIXTURES, { recursive: true });
  writeFileSync(join(FIXTURES, `${name}.json`), `${JSON.stringify(recording, null, 2)}\n`);
}

function split(args: readonly string[]): { readonly values: boolean; readonly rest: readonly string[] } {
  return { values: args.includes("--record"), rest: args.filter((arg) => arg !== "--record") };
}
