import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LoginAttempts, Ticket } from '../login/attempts.js';
import type { SiteId } from '../site.js';
import { whenWhole } from './whole-request.js';

export interface TurnDeps {
  readonly attempts: LoginAttempts;
  readonly clock: () => number;
}

/** Who asks for a password check. */
export interface Stranger {
  readonly site: SiteId;
  readonly key: string;
  readonly ticket: Ticket;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Lets a stranger who has leave for a check wait for its turn among all strangers of the site. Only a request that has
 * come whole stands in line. One that is too big to be kept has a line with others like it: nobody can tell when it
 * will have come.
 *
 * @param until when nobody waits any longer, milliseconds since the Unix epoch
 */
export function takeTurn(
  deps: TurnDeps,
  stranger: Stranger,
  until: number,
  turn: { granted(ticket: Ticket): void; expired(): void; left(): void },
): void {
  const { site, key, ticket, request, response } = stranger;
  const { attempts, clock } = deps;
  const end = (tell: () => void): void => {
    clearTimeout(late);
    response.removeListener('close', gone);
    tell();
  };
  const giveUp = (tell: () => void): void => {
    leave();
    ticket.release();
    end(tell);
  };
  const gone = (): void => giveUp(() => turn.left());
  let leave = whenWhole(request, (whole) => {
    const waiter = {
      granted(place: { leave(right: boolean, now: number): void }): void {
        const release = (right = false): void => {
          ticket.release();
          place.leave(right, clock());
        };
        end(() => turn.granted({ release }));
      },
      expired: () => giveUp(() => turn.expired()),
    };
    clearTimeout(late);
    leave = () => {};
    leave = attempts.turn(whole ? site : `${site} large`, site, key, waiter, until);
  });
  const late = setTimeout(() => giveUp(() => turn.expired()), Math.max(0, until - clock()));
  response.once('close', gone);
}
