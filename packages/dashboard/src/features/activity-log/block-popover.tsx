import { type BlockDuration, blockDurations, MAX_NOTE } from '@security-optimizer/contract/activity/blocks';
import type { VisitorStatus } from '@security-optimizer/contract/activity/schemas';
import { type FormEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import type { ApiError } from '../../api/envelope.js';
import { SaveFailed } from '../../forms/request-failed.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button, IconButton } from '../../ui/button.js';
import { useFocusReturn } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { Field } from '../../ui/field.js';
import { Note } from '../../ui/inline-messages.js';
import { useModal } from '../../ui/modal.js';
import { useUiHost } from '../../ui/portals.js';
import { SegmentedControl } from '../../ui/segmented-control.js';
import { TextWith } from '../../ui/text-with.js';
import { type BlockTarget, type BlockTerms, blockForText, DEFAULT_DURATION, toNetwork } from './blocks.js';
import { useVisitorStatus } from './manage-dialog.js';

export interface BlockPopoverProps {
  readonly target: BlockTarget;
  /** The button that opened it. */
  readonly anchor: HTMLElement;
  /** @returns the reason of a failure; null on success */
  readonly onBlock: (terms: BlockTerms) => Promise<ApiError | null>;
  readonly onClosed: () => void;
}

/** Width of the popover and its distance from the button and the window, in pixels; see styles/attackers.css. */
const WIDTH = 376;
const GAP = 6;
const EDGE = 8;

/** Blocks a visitor, with duration, network and note. A popover at its button, a sheet on phones. */
export default function BlockPopover(props: BlockPopoverProps) {
  const { portal } = useUiHost();
  useFocusReturn();
  return createPortal(<BlockFrame {...props} />, portal);
}

function BlockFrame({ target, anchor, onBlock, onClosed }: BlockPopoverProps) {
  const frame = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const [duration, setDuration] = useState<BlockDuration>(DEFAULT_DURATION);
  const [note, setNote] = useState('');
  const network = target.several === undefined && target.visitorId > 0 ? toNetwork(target.name) : null;
  // An IPv6 address changes often, so its network is preselected.
  const [scope, setScope] = useState<'address' | 'network'>(target.name.includes(':') ? 'network' : 'address');
  const [ownNetwork, setOwnNetwork] = useState(false);

  function close(): void {
    if (pending) return;
    anchor.focus();
    onClosed();
  }

  useModal(frame, box, pending ? null : close);
  usePosition(box, anchor);
  useEffect(() => {
    box.current?.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
  }, []);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    // React also bubbles the events of a portal.
    event.stopPropagation();
    if (pending) return;
    setPending(true);
    setFailure(null);
    const chosen = network === null ? 'default' : ownNetwork ? 'address' : scope;
    const failed = await onBlock({ duration, note: note.trim(), scope: chosen });
    setPending(false);
    setFailure(failed);
    if (failed !== null) return;
    anchor.focus();
    onClosed();
  }

  const durations = blockDurations.map((value) => ({ value: String(value), text: durationText(value) }));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a click outside closes it, as Escape does
    <div
      ref={frame}
      className="so-blockframe"
      onMouseDown={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        close();
      }}
    >
      <div
        ref={box}
        className="so-block so-pop"
        role="dialog"
        tabIndex={-1}
        aria-modal="true"
        aria-labelledby={`${id}-title`}
        aria-busy={pending || undefined}
      >
        <form noValidate onSubmit={(event) => void submit(event)}>
          <div className="so-block__head">
            <h3 id={`${id}-title`}>
              <BlockTitle target={target} />
            </h3>
            <IconButton icon="x" label={__('Close', 'security-optimizer')} inactive={pending} onClick={close} />
          </div>
          <div className="so-block__body">
            <div>
              <span className="so-label" aria-hidden="true">
                {__('For how long', 'security-optimizer')}
              </span>
              <SegmentedControl
                label={__('For how long', 'security-optimizer')}
                options={durations}
                value={String(duration)}
                onChange={(value) => setDuration(blockDurations.find((item) => String(item) === value) ?? 0)}
              />
            </div>
            {network === null ? (
              <WholeRange target={target} />
            ) : (
              <Whom
                visitorId={target.visitorId}
                network={network}
                scope={ownNetwork ? 'address' : scope}
                onChange={setScope}
                onOwn={() => setOwnNetwork(true)}
              />
            )}
            <Field label={__('Note (optional)', 'security-optimizer')} error={failure?.fields.note}>
              {(control) => (
                <input
                  {...control}
                  className="so-input"
                  type="text"
                  autoComplete="off"
                  maxLength={MAX_NOTE}
                  placeholder={__('Only you and your team see it', 'security-optimizer')}
                  value={note}
                  onChange={(event) => setNote(event.target.value)}
                />
              )}
            </Field>
            <SaveFailed failure={failure} text={__('This was not blocked.', 'security-optimizer')} />
          </div>
          <div className="so-block__foot">
            <Button onClick={close} disabled={pending}>
              {__('Cancel', 'security-optimizer')}
            </Button>
            <Button kind="danger" submit pendingText={pending ? __('Blocking…', 'security-optimizer') : undefined}>
              {blockForText(duration)}
            </Button>
          </div>
        </form>
      </div>
    </div>
  );
}

function BlockTitle({ target }: { readonly target: BlockTarget }) {
  const count = target.several?.length ?? 1;
  if (count > 1) {
    /* translators: %d: number of addresses */
    return <>{sprintf(_n('Block %d address', 'Block %d addresses', count, 'security-optimizer'), count)}</>;
  }
  const name = target.several?.[0]?.name ?? target.name;
  /* translators: %s: an address or a network */
  const text = __('Block %s', 'security-optimizer');
  return <AddressIn text={text} address={name} />;
}

/** Describes the content of a network that is blocked as such. */
function WholeRange({ target }: { readonly target: BlockTarget }) {
  if (target.attacking === undefined) return null;
  return (
    <p className="so-help so-num">
      {sprintf(
        /* translators: %s: number of addresses */
        _n(
          'The whole network is blocked. %s of its addresses attacked.',
          'The whole network is blocked. %s of its addresses attacked.',
          target.attacking,
          'security-optimizer',
        ),
        formatNumber(target.attacking),
      )}
    </p>
  );
}

interface WhomProps {
  readonly visitorId: number;
  readonly network: string;
  readonly scope: 'address' | 'network';
  readonly onChange: (scope: 'address' | 'network') => void;
  /** Whether the network contains the owner's address. */
  readonly onOwn: () => void;
}

/** The choice between the address and its network, with the effect of the latter. */
function Whom({ visitorId, network, scope, onChange, onOwn }: WhomProps) {
  const id = useId();
  const { status } = useVisitorStatus(visitorId, true);
  const cost = status?.network_cost ?? null;
  const own = cost?.own === 1;
  const latest = useRef(onOwn);
  latest.current = onOwn;
  useEffect(() => {
    if (own) latest.current();
  }, [own]);

  return (
    <>
      <fieldset>
        <legend className="so-label">{__('Whom', 'security-optimizer')}</legend>
        <label className="so-check">
          <input type="radio" name={id} checked={scope === 'address'} onChange={() => onChange('address')} />
          <span>
            <b>{__('Only this address', 'security-optimizer')}</b>
          </span>
        </label>
        <label className={classes('so-check', own && 'is-disabled')}>
          <input
            type="radio"
            name={id}
            checked={scope === 'network'}
            disabled={own}
            onChange={() => onChange('network')}
          />
          <span>
            <b>
              {/* translators: %s: a network of addresses */}
              <AddressIn text={__('Its network %s', 'security-optimizer')} address={cost?.range || network} />
            </b>
            <small className="so-num">
              <NetworkCost status={status} network={network} />
            </small>
          </span>
        </label>
      </fieldset>
      {status !== null && status.do_not_block === 1 && status.reason !== '' ? (
        <Note kind="warn">
          <p>{status.reason}</p>
        </Note>
      ) : null}
    </>
  );
}

function AddressIn({ text, address }: { readonly text: string; readonly address: string }) {
  return (
    <TextWith text={text}>
      <bdi className="so-mono" dir="ltr">
        {address}
      </bdi>
    </TextWith>
  );
}

/** The server counts up to this many other visitors. */
const MAX_COUNTED_VISITORS = 1000;

function NetworkCost({ status, network }: { readonly status: VisitorStatus | null; readonly network: string }) {
  const cost = status?.network_cost ?? null;
  // Keeps the line's height while the number loads.
  if (status === null) return <>{'\u00a0'}</>;
  if (cost?.own === 1) return <>{__('It includes your own address.', 'security-optimizer')}</>;
  const size = network.includes(':') ? '' : `${__('256 addresses.', 'security-optimizer')} `;
  if (cost === null) return <>{size}</>;
  const visitors =
    formatNumber(Math.min(cost.visitors, MAX_COUNTED_VISITORS)) + (cost.visitors >= MAX_COUNTED_VISITORS ? '+' : '');
  return (
    <>
      {size}
      {cost.visitors === 0
        ? __('Nobody else came from it.', 'security-optimizer')
        : sprintf(
            /* translators: %s: number of visitors */
            _n(
              '%s other visitor came from it.',
              '%s other visitors came from it.',
              cost.visitors,
              'security-optimizer',
            ),
            visitors,
          )}
    </>
  );
}

function durationText(duration: BlockDuration): string {
  switch (duration) {
    case 3600:
      return __('1 hour', 'security-optimizer');
    case 86_400:
      return __('24 hours', 'security-optimizer');
    case 604_800:
      return __('7 days', 'security-optimizer');
    default:
      return __('For good', 'security-optimizer');
  }
}

/** Positions the popover below its button, or above it if there is no room. On phones, styles position the sheet. */
function usePosition(box: { readonly current: HTMLElement | null }, anchor: HTMLElement): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    function updatePosition(): void {
      if (element === null) return;
      const at = anchor.getBoundingClientRect();
      const { offsetHeight: height } = element;
      const below = window.innerHeight - at.bottom - GAP - EDGE;
      const isAbove = below < height && at.top - GAP - EDGE > below;
      const top = isAbove ? at.top - GAP - height : at.bottom + GAP;
      const isRtl = document.documentElement.dir === 'rtl';
      const left = isRtl ? at.left : at.right - WIDTH;
      element.style.top = `${Math.round(clamp(top, window.innerHeight - height - EDGE))}px`;
      element.style.left = `${Math.round(clamp(left, document.documentElement.clientWidth - WIDTH - EDGE))}px`;
    }
    updatePosition();
    // The effect of the network, and errors, change its height.
    const observer = new MutationObserver(updatePosition);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    window.addEventListener('resize', updatePosition);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', updatePosition);
    };
  }, [box, anchor]);
}

function clamp(value: number, max: number): number {
  return Math.max(EDGE, Math.min(value, max));
}
