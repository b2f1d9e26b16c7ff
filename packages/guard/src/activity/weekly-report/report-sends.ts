import type { SiteId } from '../../site.js';

/** A mail that was claimed: whoever has it must send it, and say what came of it. */
export interface ClaimedReport {
  readonly email: string;
  /** Time of sending that it belongs to, milliseconds since the Unix epoch, as all times here. */
  readonly slot: number;
  /** How many times it was tried before. */
  readonly tries: number;
}

/** The last thing that is known about a recipient's report, when it went wrong. */
export interface ReportFailure {
  readonly email: string;
  readonly reason: string;
  /** When it is tried again, or null: no more. */
  readonly nextAt: number | null;
}

/** Which reports were sent. Every method may throw StorageError. */
export interface ReportSends {
  /**
   * Claims the mail that a recipient is to get now, for one caller only and each week once, whatever the clock did
   * since: the report of `slot` when nobody has begun it, else one that failed and has rested.
   * @param slot null when no report is due; then only what has rested is claimed
   * @returns null when there is nothing to send
   */
  claim(site: SiteId, email: string, slot: number | null, now: number): Promise<ClaimedReport | null>;
  sent(site: SiteId, report: ClaimedReport, now: number): Promise<void>;
  failed(
    site: SiteId,
    report: ClaimedReport,
    why: { readonly reason: string; readonly nextAt: number | null },
  ): Promise<void>;
  /** Counts a time of sending as done for recipients who came later. */
  skip(site: SiteId, emails: readonly string[], slot: number, now: number): Promise<void>;
  /** Reports that were begun long ago and never ended may have arrived: they count as failed for good. */
  endInterrupted(site: SiteId, reason: string, now: number): Promise<void>;
  /** The latest report of each recipient that was not sent. */
  failures(site: SiteId, emails: readonly string[]): Promise<readonly ReportFailure[]>;
}
