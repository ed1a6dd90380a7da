import childProcess, { type ChildProcess } from "node:child_process";

type Spawn = (command: string, args: readonly string[], options: Record<string, unknown>) => ChildProcess;

/**
 * Starts the runtime in a process group of its own, and tells its process number. Ctrl-C reaches every process of the terminal's foreground group;
 * the runtime would die of it at once, with finished rollouts still unsaved, while this process asks it to stop in order. Miniflare has no
 * option for either, so its call to `spawn` is intercepted. The answer undoes that; call it when the service has ended.
 */
export function inOwnProcessGroup(onSpawn: (child: ChildProcess) => void): () => void {
  const node = childProcess as { spawn: Spawn };
  const original = node.spawn;
  const intercepted: Spawn = (command, args, options) => {
    // Miniflare spawns nothing else with this first argument.
    if (args[0] !== "serve") return original(command, args, options);
    const child = original(command, args, { ...options, detached: true });
    onSpawn(child);
    return child;
  };
  node.spawn = intercepted;
  return () => {
    if (node.spawn === intercepted) node.spawn = original;
  };
}
