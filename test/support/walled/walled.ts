import { openSession, type SessionHost } from "../../../src/environment-session/session.ts";
import type { EnvironmentDefinition } from "../../../src/environments/definition/definition.ts";
import { type OfferedEnvironment, offeredDefinition } from "../../../src/environments/definition/offered.ts";
import type { Channel } from "../../../src/environment-protocol/channel.ts";
import { walledEnvironment, type WalledOptions, type WallGrant } from "../../../src/walled/walled-environment.ts";
import { type ChannelPair, memoryChannels } from "./memory-channels.ts";

export interface Walled {
  readonly offered: OfferedEnvironment;
  /** The channels that were opened, in their order. */
  readonly channels: ChannelPair[];
  readonly grants: WallGrant[];
}

/** `definition` behind a wall in this process. */
export function walled(definition: EnvironmentDefinition, options: WalledOptions = {}, host: SessionHost = {}, keepsMessages = false): Walled {
  return walledBy(definition, (channel) => openSession(() => definition, channel, host), options, keepsMessages);
}

/** What is called like `definition`, with whatever `session` puts at the other end of the channel. */
export function walledBy(definition: EnvironmentDefinition, session: (channel: Channel) => void, options: WalledOptions = {}, keepsMessages = false): Walled {
  const channels: ChannelPair[] = [];
  const grants: WallGrant[] = [];
  const opener = async (grant: WallGrant): Promise<Channel> => {
    const pair = memoryChannels(keepsMessages);
    channels.push(pair);
    grants.push(grant);
    session(pair.environment);
    return pair.engine;
  };
  return { offered: walledEnvironment(offeredDefinition(definition), opener, options), channels, grants };
}
