/** Whether anything listens at an address: the look-up of its name and the connection, whose reasons workerd's `fetch` keeps to itself. */
import { connect } from "node:net";

/** Resolves when a connection stands; rejects with the system's error, or `ETIMEDOUT` after `ms`. Nothing is sent. */
export function reachHost(url: string, ms: number): Promise<void> {
  const { hostname, port, protocol } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (protocol === "https:" ? 443 : 80)) });
  return new Promise<void>((resolve, reject) => {
    socket.setTimeout(ms, () => reject(Object.assign(new Error(`no connection within ${ms / 1_000} s`), { code: "ETIMEDOUT" })));
    socket.once("connect", resolve);
    socket.once("error", reject);
  }).finally(() => socket.destroy());
}
