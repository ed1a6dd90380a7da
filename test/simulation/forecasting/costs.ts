/** What examples cost in simulated runs: numbers above 0, drawn by `random`. */
export const COSTS: Readonly<Record<string, (random: () => number) => number>> = {
  constant: () => 0.0123,
  "log-normal (spread 1)": logNormal(1),
  "log-normal, heavy (spread 1.2)": logNormal(1.2),
  "log-normal, very heavy (spread 1.6)": logNormal(1.6),
  "one in ten ten times as dear": twoHumps(0.1, 10),
  "nearly alike": logNormal(0.2),
  "short, and three in ten twenty times as long": twoHumps(0.3, 20),
  agent,
};

export function logNormal(spread: number): (random: () => number) => number {
  return (random) => Math.exp(spread * normal(random));
}

/** A share of them is so many times as dear. */
export function twoHumps(share: number, times: number): (random: () => number) => number {
  return (random) => (random() < share ? times : 1) * Math.exp(0.2 * normal(random));
}

/** Turns until it is done or gives up, as likely at each as this example is hard; each reads all that was said before. */
export function agent(random: () => number): number {
  const ends = 0.05 + 0.25 * random();
  let [turns, context, cost] = [1, 2000, 0];
  while (turns < 30 && random() > ends) turns += 1;
  for (let turn = 0; turn < turns; turn += 1) {
    const answer = 50 + Math.exp(5 + 0.8 * normal(random));
    cost += context * 0.4e-6 + answer * 1.6e-6;
    context += answer + 400 * Math.exp(0.8 * normal(random));
  }
  return cost;
}

/** Box and Muller. */
export const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
