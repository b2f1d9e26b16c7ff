/** Stands in for a `ToggleRow` while its value is not known; it has the same height. */
export function ToggleRowSkeleton() {
  return (
    <div className="so-row so-row--switch so-row--sk" aria-hidden="true">
      <span className="so-sk so-sk--tile" />
      <div className="so-row__text">
        <span className="so-sk so-sk--title" />
        <span className="so-sk so-sk--help" />
      </div>
      <div className="so-row__ctl">
        <span className="so-sk so-sk--switch" />
      </div>
    </div>
  );
}
