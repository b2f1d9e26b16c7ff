import { ApiError } from '../lib/api-error.js';
import { unreachable } from './connector-exchange.js';

/** Commands to one WordPress under way at the same time, beside the questions who somebody is. */
const COMMANDS = 6;
/** So many of them may be slow ones: mails, plugins that are fetched. */
const SLOW_COMMANDS = 3;
/** Questions who somebody is, under way at the same time; anybody can cause them with an invented cookie. */
const SESSIONS = 4;
/** So many of them may be for members and anonymous clients, and so many for anonymous clients alone. */
const MEMBER_SESSIONS = 3;
const ANONYMOUS_SESSIONS = 2;
const ANONYMOUS_SESSIONS_OF_CLIENT = 1;

/** Commands that wait at most. Guard itself causes them, so this is a net. */
const COMMANDS_WAITING = 1000;
/** Questions that wait at most, for browsers of each standing. */
const SESSIONS_WAITING = 64;
/** So many of them for one client. */
const SESSIONS_WAITING_OF_CLIENT = 16;
/** A question that has waited for so long is given up, milliseconds. */
const SESSION_WAIT_MS = 10_000;

/**
 * How well a browser is known whose session is asked for: WordPress has said lately that an administrator has it, or
 * that some member has it, or nothing. The better known go first.
 */
export type Standing = 'administrator' | 'member' | 'anonymous';

/** A command that guard itself wants carried out. */
export interface CommandTurn {
  readonly kind: 'command';
  readonly slow: boolean;
  /** How long it may wait, milliseconds. */
  readonly waitMs: number;
}

/** The question who somebody is. */
export interface SessionTurn {
  readonly kind: 'session';
  readonly standing: Standing;
  /** Whom it counts for; see `addressKey`. */
  readonly client: string;
  /** False once nobody waits for the answer. */
  isWanted(): boolean;
}

interface Waiting<Turn> {
  readonly turn: Turn;
  /** Its round; see `#roundFor`. */
  readonly round: number;
  start(): void;
  refuse(error: Error): void;
}

/**
 * The queue in front of one WordPress. What guard needs (policies, sessions behind a second factor, events, jobs) has
 * connections of its own, which no visitor can take: questions who somebody is have a few others, and wait in a short
 * line with room for every address. PHP has few workers, so more at the same time would only wait in its own queue.
 */
export class CommandQueue {
  readonly #commands: Waiting<CommandTurn>[] = [];
  readonly #sessions: Waiting<SessionTurn>[] = [];
  readonly #underWay: Waiting<CommandTurn | SessionTurn>[] = [];
  /** The round of the question that was asked last. */
  #round = 0;
  readonly #sessionWaitMs: number;

  constructor({ sessionWaitMs = SESSION_WAIT_MS } = {}) {
    this.#sessionWaitMs = sessionWaitMs;
  }

  /**
   * Runs a task in its turn.
   * @throws ApiError too_many_calls or wordpress_busy for a question; ConnectorError for a command; what the task throws
   */
  async run<Result>(turn: CommandTurn | SessionTurn, task: () => Promise<Result>): Promise<Result> {
    const started = await (turn.kind === 'command' ? this.#enqueueCommand(turn) : this.#enqueueSession(turn));
    try {
      return await task();
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(started), 1);
      this.#startNext();
    }
  }

  /** Refuses all that wait. */
  close(cause: string): void {
    for (const waiting of [...this.#commands, ...this.#sessions]) waiting.refuse(unreachable(cause));
  }

  #enqueueCommand(turn: CommandTurn): Promise<Waiting<CommandTurn>> {
    if (this.#commands.length >= COMMANDS_WAITING) throw unreachable(BUSY);
    return this.#wait(this.#commands, turn, turn.waitMs, () => unreachable(BUSY));
  }

  #enqueueSession(turn: SessionTurn): Promise<Waiting<SessionTurn>> {
    this.#dropUnwanted();
    const waiting = this.#sessions.filter((entry) => entry.turn.standing === turn.standing);
    const counts = new Map<string, number>();
    for (const { client } of waiting.map((entry) => entry.turn)) counts.set(client, (counts.get(client) ?? 0) + 1);
    const own = counts.get(turn.client) ?? 0;
    if (own >= SESSIONS_WAITING_OF_CLIENT) throw new ApiError('too_many_calls');
    if (waiting.length >= SESSIONS_WAITING) {
      // Whoever has most in the line makes room, so that a few addresses can't fill it.
      const most = Math.max(...counts.values());
      if (most <= own + 1) throw new ApiError('wordpress_busy');
      waiting.findLast((entry) => counts.get(entry.turn.client) === most)?.refuse(new ApiError('too_many_calls'));
    }
    return this.#wait(this.#sessions, turn, this.#sessionWaitMs, () => new ApiError('wordpress_busy'));
  }

  #wait<Turn extends CommandTurn | SessionTurn>(
    queue: Waiting<Turn>[],
    turn: Turn,
    ms: number,
    late: () => Error,
  ): Promise<Waiting<Turn>> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        queue.splice(queue.indexOf(entry), 1);
      };
      const entry: Waiting<Turn> = {
        turn,
        round: turn.kind === 'session' ? this.#roundFor(turn) : 0,
        start: () => {
          leave();
          this.#round = Math.max(this.#round, entry.round);
          this.#underWay.push(entry);
          resolve(entry);
        },
        refuse(error) {
          leave();
          reject(error);
        },
      };
      const timer = setTimeout(() => entry.refuse(late()), ms);
      queue.push(entry);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#nextCommand(); next; next = this.#nextCommand()) next.start();
    this.#dropUnwanted();
    for (let next = this.#nextSession(); next; next = this.#nextSession()) next.start();
  }

  /** Whoever has gone leaves the line. */
  #dropUnwanted(): void {
    for (const entry of [...this.#sessions]) if (!entry.turn.isWanted()) entry.refuse(new ApiError('wordpress_busy'));
  }

  #nextCommand(): Waiting<CommandTurn> | undefined {
    const commands = turnsOf(this.#underWay, 'command');
    if (commands.length >= COMMANDS) return undefined;
    const roomForSlow = commands.filter((turn) => turn.slow).length < SLOW_COMMANDS;
    return this.#commands.find(({ turn }) => roomForSlow || !turn.slow);
  }

  /** The best known first; among them the earliest round, and in it who came first. */
  #nextSession(): Waiting<SessionTurn> | undefined {
    const sessions = turnsOf(this.#underWay, 'session');
    if (sessions.length >= SESSIONS) return undefined;
    const mayStart = (turn: SessionTurn): boolean => {
      const alike = sessions.filter((other) => RANK[other.standing] >= RANK[turn.standing]);
      if (alike.length >= AT_ONCE[turn.standing]) return false;
      if (turn.standing !== 'anonymous') return true;
      return alike.filter(({ client }) => client === turn.client).length < ANONYMOUS_SESSIONS_OF_CLIENT;
    };
    let best: Waiting<SessionTurn> | undefined;
    for (const entry of this.#sessions) {
      if (!mayStart(entry.turn)) continue;
      const sooner = best === undefined ? -1 : rankOf(entry) - rankOf(best) || entry.round - best.round;
      if (sooner < 0) best = entry;
    }
    return best;
  }

  /** A client has one question in each round, so that who has many waits longer than who has one. */
  #roundFor({ client }: SessionTurn): number {
    const own = [...this.#sessions, ...this.#underWay].filter(
      ({ turn }) => turn.kind === 'session' && turn.client === client,
    );
    return Math.max(this.#round, ...own.map(({ round }) => round + 1));
  }
}

function turnsOf<Kind extends 'command' | 'session'>(
  entries: readonly Waiting<CommandTurn | SessionTurn>[],
  kind: Kind,
) {
  return entries
    .map(({ turn }) => turn)
    .filter((turn): turn is Extract<CommandTurn | SessionTurn, { kind: Kind }> => turn.kind === kind);
}

const rankOf = ({ turn }: Waiting<SessionTurn>): number => RANK[turn.standing];
const RANK: Readonly<Record<Standing, number>> = { administrator: 0, member: 1, anonymous: 2 };
const AT_ONCE: Readonly<Record<Standing, number>> = {
  administrator: SESSIONS,
  member: MEMBER_SESSIONS,
  anonymous: ANONYMOUS_SESSIONS,
};
const BUSY = 'too many commands wait for it';
