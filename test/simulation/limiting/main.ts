/**
 * Limits that runs of one key share, in virtual time: `node test/simulation/limiting/main.ts table [PATTERN [RUNS]]` prints what is made of each provider,
 * `… kills` kills the Limiter at each of its steps, `… seeds COUNT [FIRST]` plays schedules of everything that may go wrong.
 */
import { brokenByKills, brokenIn, seedsFrom } from "./hostile-plays.ts";
import { table } from "./targets.ts";

const [what = "", first, second] = process.argv.slice(2);
const print = (line: string): void => console.log(line);
let broken: readonly string[] = [];
if (what === "table") {
  const missed = await table(print, first, second?.split(",").map(Number));
  if (missed > 0) broken = [`${missed} targets are missed`];
} else if (what === "kills") ({ broken } = await brokenByKills());
else if (what === "seeds") broken = await brokenIn(seedsFrom(Number(second ?? 1), Number(first ?? 100)));
else broken = ["usage: table [PATTERN [RUNS]] | kills | seeds COUNT [FIRST]"];
for (const line of broken) console.error(line);
process.exit(broken.length === 0 ? 0 : 1);
