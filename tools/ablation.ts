/**
 * `npx node tools/ablation.ts`: evaluates the embedded model at three temperatures on three levels of difficulty, with the built
 * command, and prints the table of the README. The nine runs stay in `outputs/`.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const TEMPERATURES = ["0", "0.7", "1.2"];
const DIFFICULTIES = ["easy", "medium", "hard"];
const [EXAMPLES, ROLLOUTS] = ["100", "4"];

const command = fileURLToPath(new URL("../bin/edgewise.js", import.meta.url));

interface Metadata {
  readonly avg_reward: number;
  readonly pass_at_k: Readonly<Record<string, number>>;
  readonly edgewise: { readonly reward_ci95: readonly [number, number] | null };
}

/** Runs one evaluation; what it says while it works goes to standard error. */
async function evaluate(difficulty: string, temperature: string): Promise<Metadata> {
  const args = ["eval", "run", "arithmetic", "--provider", "embedded", "-n", EXAMPLES, "-r", ROLLOUTS, "-T", temperature, "-a", JSON.stringify({ difficulty })];
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((done, failed) => child.once("error", failed).once("close", done));
  const folder = /^Results: (.+)$/m.exec(output)?.[1];
  if (code !== 0 || folder === undefined) throw new Error(`the run at ${difficulty}, temperature ${temperature} ended with ${code}`);
  return JSON.parse(readFileSync(join(resolve(folder), "metadata.json"), "utf8")) as Metadata;
}

function cell({ avg_reward, pass_at_k, edgewise }: Metadata): string {
  const interval = edgewise.reward_ci95?.map((bound) => bound.toFixed(2)).join("–") ?? "no interval";
  return `${avg_reward.toFixed(3)} (${interval}), ${pass_at_k[ROLLOUTS]?.toFixed(3)}`;
}

console.log(`| difficulty | ${TEMPERATURES.map((temperature) => `temperature ${temperature}`).join(" | ")} |`);
console.log(`| --- | ${TEMPERATURES.map(() => "---").join(" | ")} |`);
for (const difficulty of DIFFICULTIES) {
  const cells: string[] = [];
  for (const temperature of TEMPERATURES) cells.push(cell(await evaluate(difficulty, temperature)));
  console.log(`| ${difficulty} | ${cells.join(" | ")} |`);
}
