/** Milliseconds of processor time that `work` takes in this process: unlike the clock's they are no more where others are at work on the machine. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
