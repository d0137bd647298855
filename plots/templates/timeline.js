"use strict";
/* The timeline that can be zoomed, hovered and searched: plain JavaScript, no library, nothing from the network.
 *
 * Its data is JSON beside it, as plots/page/page_live.c writes it: rows of boxes, each box some numbers in text
 * (numbers() reads them). Names are data: they reach the page as text alone (textContent, fillText). Without
 * script the picture above stays, which this replaces.
 */
document.addEventListener("DOMContentLoaded", () => {
  const data = JSON.parse(document.getElementById("live-data").textContent);
  const root = document.getElementById("live"), card = document.getElementById("still");
  const find = (name) => root.querySelector("[data-part=" + name + "]");
  const frame = find("frame"), spacer = find("spacer"), canvas = find("canvas"), tip = find("tip");
  const box = find("search"), count = find("count"), context = canvas.getContext("2d");
  const AXIS = 24, FONT = "12px system-ui, 'DejaVu Sans', sans-serif", TEXT = "#1d2329", QUIET = "#5b6670";
  const WAITS = ["the host", "stream order", "an event", "a hardware queue", "a copy engine", "free SM resources"];

  /* --- The data: all boxes in four arrays; a row is a part of them. --- */
  const digit = new Uint8Array(128);
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("").forEach((c, i) => {
    digit[c.charCodeAt(0)] = i;
  });
  /* Reads numbers of five bits a character, the lowest first; 32 says that more follow. */
  function numbers(text, place) {
    const next = () => {
      let value = 0, scale = 1, d;
      do {
        d = digit[text.charCodeAt(place++)];
        value += (d & 31) * scale;
        scale *= 32;
      } while (d & 32);
      return value;
    };
    const signed = () => {
      const value = next();
      return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    return { next, signed, place: () => place };
  }

  const total = data.rows.reduce((sum, row) => sum + row.count, 0);
  const starts = new Float64Array(total), ends = new Float64Array(total), names = new Uint32Array(total);
  const places = new Uint32Array(total), causes = new Int32Array(total).fill(-1), blocked = new Float64Array(total);

  /* What a box of an operation waited for stays text until somebody asks: waits() reads it. */
  function load(row) {
    const read = numbers(row.boxes, 0);
    let time = 0, cause = row.first;
    for (let i = row.first; i < row.first + row.count; i++) {
      starts[i] = time + read.signed();
      time = ends[i] = starts[i] + read.next();
      names[i] = read.next();
      if (row.kind === "call") {
        blocked[i] = read.next();
      } else if (row.kind === "stream") {
        places[i] = read.place();
        const head = read.next();
        for (let bit = 1; bit < 256; bit *= 2)
          if (head & bit && bit !== 64) read.next();
        if (head & 64) causes[i] = cause += read.signed();
      }
    }
  }
  function waits(row, i) {
    const read = numbers(row.boxes, places[i]), head = read.next(), list = [];
    for (let wait = 0; wait < WAITS.length; wait++)
      if (head >> wait & 1) list.push(time(read.next()) + " for " + WAITS[wait]);
    return { list, bytes: head & 128 ? read.next() : 0 };
  }

  /* A row to draw: boxes in order of start, how far they reach, how busy it was until each. */
  function track(title, kind, side, at) {
    const n = at.length, reach = new Float64Array(n), busy = new Float64Array(n + 1);
    let far = -Infinity;
    for (let i = 0; i < n; i++) {
      busy[i + 1] = busy[i] + Math.max(0, ends[at[i]] - Math.max(starts[at[i]], far));
      reach[i] = far = Math.max(far, ends[at[i]]);
    }
    return { title, kind, side, at, reach, busy, hits: null, y: 0 };
  }
  function merge(a, b) {
    const out = new Uint32Array(a.length + b.length);
    for (let i = 0, j = 0, k = 0; k < out.length; k++)
      out[k] = j >= b.length || (i < a.length && starts[a[i]] <= starts[b[j]]) ? a[i++] : b[j++];
    return out;
  }
  function range(row) {
    return Uint32Array.from({ length: row.count }, (_, i) => row.first + i);
  }

  /* Engines are put together from the streams: the kernels of a GPU, and its copies in each direction. */
  function engines(tracks) {
    const kinds = { k: "kernels", i: "copies to the device", o: "copies to the host" };
    data.sides.forEach((side, number) => {
      for (let gpu = 0; gpu < data.gpus; gpu++) {
        for (const kind of Object.keys(kinds)) {
          let lists = data.rows.filter((r) => r.kind === "stream" && r.side === number && r.gpu === gpu)
            .map((r) => range(r).filter((i) => data.kinds[names[i]] === kind)).filter((list) => list.length > 0);
          while (lists.length > 1) lists = lists.slice(2).concat([merge(lists[0], lists[1])]);
          if (lists.length > 0)
            tracks.push(track((data.gpus > 1 ? "GPU " + gpu + " " : "") + kinds[kind], "engine", number, lists[0]));
        }
      }
    });
  }

  const tracks = [], home = new Array(data.rows.length);
  let before = 0;
  data.rows.forEach((row) => {
    row.first = before;
    before += row.count;
  });
  data.rows.forEach((row, i) => {
    load(row);
    tracks.push(home[i] = track(row.title, row.kind, row.side, range(row)));
  });
  engines(tracks);
  const low = starts.reduce((a, b) => Math.min(a, b), Infinity), high = ends.reduce((a, b) => Math.max(a, b), -Infinity);
  const margin = Math.max(1, (high - low) / 100), whole = { from: low - margin, to: high + margin };
  const rowOf = (i) => {
    let r = data.rows.length - 1;
    while (data.rows[r].first > i) r--;
    return r;
  };

  /* --- Numbers as people read them. --- */
  function time(ns) {
    const size = Math.abs(ns);
    const [unit, name] = size < 1e3 ? [1, "ns"] : size < 1e6 ? [1e3, "µs"] : size < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    return Number((ns / unit).toPrecision(size < 1e3 ? 3 : 6)) + " " + name;
  }

  /* --- What is looked at. --- */
  let view = { from: whole.from, to: whole.to }, selected = null, hovered = null, matches = null, wanted = null;
  let width = 0, height = 0, gutter = 0, pitch = 0, bar = 0, due = false;
  const scale = () => (width - gutter) / (view.to - view.from);
  const place = (t) => gutter + (t - view.from) * scale();
  const moment = (x) => view.from + (x - gutter) / scale();

  function look(from, to) {
    const least = 20, most = whole.to - whole.from, span = Math.min(most, Math.max(least, to - from));
    const middle = (from + to) / 2;
    let start = Math.min(Math.max(middle - span / 2, whole.from), whole.to - span);
    view = { from: start, to: start + span };
    frame.dataset.view = Math.round(view.from) + " " + Math.round(view.to);
    redraw();
  }
  const zoom = (factor, x) => {
    const t = moment(x === undefined ? (gutter + width) / 2 : x);
    look(t - (t - view.from) * factor, t + (view.to - t) * factor);
  };
  const pan = (share) => {
    const by = (view.to - view.from) * share;
    look(view.from + by, view.to + by);
  };
  function redraw() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      draw();
    });
  }
  function layout() {
    const ratio = window.devicePixelRatio || 1;
    width = frame.clientWidth;
    gutter = width < 640 ? 0 : 200;
    bar = 16;
    pitch = gutter ? 21 : 35; /* narrow screens have the names above the rows */
    const full = AXIS + tracks.length * pitch + 8;
    height = Math.min(full, Math.max(200, Math.round(window.innerHeight * 0.7)));
    frame.style.height = height + "px";
    spacer.style.height = full - height + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    tip.hidden = true;
    tracks.forEach((t, i) => (t.y = AXIS + i * pitch + (gutter ? 2 : 17)));
    redraw();
  }

  /* --- Drawing: only rows and boxes that can be seen; boxes narrower than a pixel become columns. --- */
  function behind(array, value, from) { /* the first place from `from` on with more than `value` */
    let a = from, b = array.length;
    while (a < b) {
      const m = (a + b) >> 1;
      if (array[m] > value) b = m;
      else a = m + 1;
    }
    return a;
  }
  function startsFrom(t, value, from) { /* the first box from `from` on that starts at `value` or later */
    let step = 1, a = from, b = from;
    while (b < t.at.length && starts[t.at[b]] < value) {
      a = b + 1;
      b += step;
      step *= 2;
    }
    b = Math.min(b, t.at.length);
    while (a < b) {
      const m = (a + b) >> 1;
      if (starts[t.at[m]] >= value) b = m;
      else a = m + 1;
    }
    return a;
  }
  function colour(i, hit) {
    return wanted === null ? data.colours[names[i]] : hit ? "#c2185b" : "#d9dee3";
  }
  function isDark(hex) {
    const v = parseInt(hex.slice(1), 16);
    return 0.299 * (v >> 16) + 0.587 * (v >> 8 & 255) + 0.114 * (v & 255) < 140;
  }
  function fit(text, room) {
    if (context.measureText(text).width <= room) return text;
    let n = Math.max(0, Math.min(text.length, Math.floor(room / 5)));
    while (n > 0 && context.measureText(text.slice(0, n) + "…").width > room) n--;
    return n > 0 ? text.slice(0, n) + "…" : "";
  }
  function drawBox(t, i, y) {
    const p = t.at[i], x = Math.max(place(starts[p]), gutter - 2), right = Math.min(place(ends[p]), width + 2);
    const fill = colour(p, t.hits !== null && t.hits[i + 1] > t.hits[i]);
    context.fillStyle = fill;
    context.fillRect(x, y, Math.max(right - x - (right - x > 4 ? 0.8 : 0), 1), bar);
    if (blocked[p] > 0 && wanted === null) {
      const waited = Math.min(blocked[p] * scale(), right - x);
      context.fillStyle = "#e3b7a0";
      context.fillRect(right - waited, y + bar - 4, waited, 4);
    }
    if (right - x > 36) {
      context.fillStyle = isDark(fill) ? "#fff" : TEXT;
      context.fillText(fit(data.names[names[p]], right - x - 8), x + 4, y + bar / 2);
    }
  }
  function drawTrack(t, y) {
    const pixel = 1 / scale(), n = t.at.length;
    let i = behind(t.reach, view.from, 0);
    while (i < n && starts[t.at[i]] < view.to) {
      const p = t.at[i];
      if ((ends[p] - starts[p]) >= 2 * pixel) {
        drawBox(t, i++, y);
        continue;
      }
      const x = Math.floor(place(starts[p])), until = moment(x + 1);
      let j = Math.max(startsFrom(t, until, i), i + 1);
      if (j - 1 > i && ends[t.at[j - 1]] - starts[t.at[j - 1]] >= 2 * pixel) j--; /* it reaches on: a box of its own */
      const share = Math.min(1, (t.busy[j] - t.busy[i]) / pixel), tall = Math.max(3, Math.round(share * bar));
      context.fillStyle = colour(p, t.hits !== null && t.hits[j] > t.hits[i]);
      context.fillRect(x, y + bar - tall, 1, tall);
      i = j;
    }
  }
  function drawAxis() {
    const span = view.to - view.from, least = span / Math.max(2, (width - gutter) / 110);
    const power = Math.pow(10, Math.floor(Math.log10(least)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= least);
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, AXIS);
    context.strokeStyle = "#e4e8ec";
    context.fillStyle = QUIET;
    context.beginPath();
    for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
      const x = place(k * step);
      if (x < gutter) continue;
      context.moveTo(x, AXIS - 5);
      context.lineTo(x, height);
      if (x + 30 < width) context.fillText(time(k * step), x + 3, 10);
    }
    context.stroke();
  }
  function sideOf(t) { /* of host threads there is but one, beside a recording */
    const told = data.sides.length > 1 && t.title !== "" && (t.kind !== "call" && t.kind !== "range" || data.sides[0] === "before");
    return told ? " · " + data.sides[t.side] : "";
  }
  function drawTitle(t, y) {
    const side = sideOf(t), room = (gutter || width) - 10;
    context.fillStyle = "#fff";
    if (gutter) context.fillRect(0, y - 2, gutter - 2, pitch);
    context.fillStyle = TEXT;
    context.fillText(fit(t.title, room - context.measureText(side).width) + side, 4, gutter ? y + bar / 2 : y - 8);
  }
  function outline(b) {
    const y = b.t.y - frame.scrollTop, x = place(starts[b.p]), w = Math.max(place(ends[b.p]) - x, 2);
    context.strokeStyle = "#000";
    context.lineWidth = 2;
    const left = Math.max(x, gutter) - 1, right = Math.min(x + w, width + 4) + 1;
    if (right > left) context.strokeRect(left, y - 1, right - left, bar + 2);
    context.lineWidth = 1;
    return { x, y };
  }
  function drawCause(b) { /* from what let the operation start to the operation */
    const cause = causes[b.p];
    if (cause < 0 || cause >= total) return;
    const from = { t: home[rowOf(cause)], p: cause }, a = outline(from), c = outline(b);
    const call = from.t.kind === "call";
    context.strokeStyle = "#000";
    context.beginPath();
    context.moveTo(call ? a.x : place(ends[cause]), a.y + bar / 2);
    context.lineTo(c.x, c.y + bar / 2);
    context.stroke();
    context.beginPath();
    context.arc(c.x, c.y + bar / 2, 3, 0, 7);
    context.fillStyle = "#000";
    context.fill();
  }
  function draw() {
    const top = frame.scrollTop, shown = hovered || selected;
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    drawAxis();
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    for (const t of tracks) {
      const y = t.y - top;
      if (y + bar < AXIS || y - 20 > height) continue;
      context.fillStyle = "#f3f5f7";
      context.fillRect(gutter, y, width - gutter, bar);
      drawTrack(t, y);
    }
    if (shown) {
      outline(shown);
      drawCause(shown);
    }
    for (const t of tracks)
      if (t.y - top + bar >= AXIS && t.y - top - 20 <= height) drawTitle(t, t.y - top);
    context.restore();
  }

  /* --- Which box is where, and what is said of it. --- */
  function under(x, y) {
    const t = tracks.find((row) => y + frame.scrollTop >= row.y - 2 && y + frame.scrollTop <= row.y + bar + 2);
    if (!t || y < AXIS || x < gutter) return null;
    const slack = 3 / scale(), at = moment(x);
    let best = null, near = slack;
    for (let i = behind(t.reach, at - slack, 0), seen = 0; i < t.at.length && seen < 400; i++, seen++) {
      const p = t.at[i];
      if (starts[p] > at + slack) break;
      const away = Math.max(starts[p] - at, at - ends[p], 0);
      if (away <= near) {
        near = away;
        best = { t, i, p };
      }
    }
    return best;
  }
  const threads = data.rows.map((row, i) => /* rows of ranges below the first have no name of their own */
    row.title || (data.rows.slice(0, i).reverse().find((above) => above.title) || row).title);
  const where = (p) => threads[rowOf(p)] + sideOf(home[rowOf(p)]);
  function line(text, strong) {
    const p = document.createElement(strong ? "strong" : "div");
    p.textContent = text;
    tip.append(p);
  }
  function tell(b, x, y) {
    tip.hidden = b === null;
    if (b === null) return;
    const row = data.rows[rowOf(b.p)];
    tip.textContent = "";
    line(data.names[names[b.p]], true);
    line(where(b.p));
    line("starts at " + time(starts[b.p]) + ", takes " + time(ends[b.p] - starts[b.p]));
    if (row.kind === "call" && blocked[b.p] > 0) line("of it blocked: " + time(blocked[b.p]));
    if (row.kind === "stream") {
      const more = waits(row, b.p);
      if (more.bytes > 0) line(more.bytes.toLocaleString("en") + " bytes");
      if (more.list.length > 0) line("waited " + more.list.join(", "));
      if (causes[b.p] >= 0 && causes[b.p] < total)
        line("released by " + data.names[names[causes[b.p]]] + ", " + where(causes[b.p]));
    }
    tip.style.left = "0"; /* as wide as it would be, to measure it */
    tip.style.left = Math.max(0, Math.min(x + 12, width - tip.offsetWidth - 4)) + "px";
    const below = y + 18 + tip.offsetHeight < height;
    tip.style.top = frame.scrollTop + (below ? y + 18 : Math.max(0, y - tip.offsetHeight - 12)) + "px";
  }
  function select(b) {
    selected = b;
    if (b === null) tell(null);
    redraw();
  }
  /* Bring a box to the middle, wide enough to be seen, and say what it is. */
  function jump(b) {
    const length = ends[b.p] - starts[b.p], middle = (starts[b.p] + ends[b.p]) / 2;
    const span = Math.min(view.to - view.from, Math.max(length * 12, 2000));
    if (b.t.y - frame.scrollTop < AXIS || b.t.y - frame.scrollTop > height - 60)
      frame.scrollTop = Math.max(0, b.t.y - height / 2);
    look(middle - span / 2, middle + span / 2);
    select(b);
    tell(b, place(starts[b.p]), b.t.y - frame.scrollTop);
  }

  /* --- Search: names that hold the text; matches in order of time. --- */
  function search(text) {
    const needle = text.trim().toLowerCase();
    wanted = null;
    matches = null;
    if (needle !== "") {
      wanted = data.names.map((name) => name.toLowerCase().includes(needle));
      const own = tracks.filter((t) => t.kind !== "engine");
      matches = own.flatMap((t) => {
        const list = [];
        t.at.forEach((p, i) => wanted[names[p]] && list.push({ t, i, p }));
        return list;
      }).sort((a, b) => starts[a.p] - starts[b.p]);
    }
    for (const t of tracks) {
      t.hits = wanted === null ? null : new Uint32Array(t.at.length + 1);
      for (let i = 0; t.hits !== null && i < t.at.length; i++) t.hits[i + 1] = t.hits[i] + (wanted[names[t.at[i]]] ? 1 : 0);
    }
    say(-1);
    select(null);
  }
  let current = -1;
  function say(at) {
    current = at;
    count.textContent = matches === null ? "" :
      matches.length === 0 ? "no match" : (at >= 0 ? at + 1 + " of " : "") + matches.length + (at < 0 ? " found" : "");
  }
  function step(by) {
    if (matches === null || matches.length === 0) return;
    say(current < 0 ? (by > 0 ? 0 : matches.length - 1) : (current + by + matches.length) % matches.length);
    jump(matches[current]);
  }
  function beside(by) { /* the operation before or after the selected one in its row */
    const t = selected ? selected.t : tracks.find((row) => row.kind === "stream" && row.side === data.sides.length - 1) || tracks[0];
    const i = selected ? Math.min(Math.max(selected.i + by, 0), t.at.length - 1) : 0;
    jump({ t, i, p: t.at[i] });
  }

  /* --- Mouse, touch, keys. --- */
  const held = new Map();
  let moved = false;
  const spot = (event) => {
    const r = canvas.getBoundingClientRect();
    return { x: event.clientX - r.left, y: event.clientY - r.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, spot(event));
    moved = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = spot(event), last = held.get(event.pointerId);
    if (!last) {
      hovered = under(now.x, now.y);
      tell(hovered || selected, now.x, now.y);
      if (!hovered) tip.hidden = true;
      redraw();
      return;
    }
    if (Math.abs(now.x - last.x) < 3 && !moved) return;
    moved = true;
    if (held.size === 2) {
      const other = [...held].find(([id]) => id !== event.pointerId)[1];
      const was = Math.max(10, Math.abs(last.x - other.x)), is = Math.max(10, Math.abs(now.x - other.x));
      zoom(was / is, (now.x + other.x) / 2);
    } else {
      pan((last.x - now.x) / (width - gutter));
    }
    hovered = null;
    tip.hidden = true;
    held.set(event.pointerId, now);
  });
  const release = (event) => {
    const at = held.get(event.pointerId);
    held.delete(event.pointerId);
    if (event.type === "pointerup" && at && !moved) {
      const b = under(at.x, at.y);
      select(b);
      tell(b, at.x, at.y);
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    hovered = null;
    if (!selected) tip.hidden = true;
    redraw();
  });
  canvas.addEventListener("dblclick", (event) => {
    const now = spot(event), b = under(now.x, now.y);
    if (b) look(starts[b.p] - (ends[b.p] - starts[b.p]), ends[b.p] + (ends[b.p] - starts[b.p]));
    else zoom(0.5, now.x);
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), spot(event).x);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      pan((event.deltaX || event.deltaY) / width);
    else return; /* the page, or the rows, scroll */
    event.preventDefault();
  }, { passive: false });
  const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.6), "=": () => zoom(0.6),
    "-": () => zoom(1 / 0.6), "0": () => look(whole.from, whole.to), Home: () => look(whole.from, whole.to),
    n: () => beside(1), p: () => beside(-1), "/": () => box.focus(), Escape: () => select(null),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    keys[event.key]();
    event.preventDefault();
  });
  const press = (part, action) => find(part).addEventListener("click", action);
  press("in", () => zoom(0.5));
  press("out", () => zoom(2));
  press("left", () => pan(-0.3));
  press("right", () => pan(0.3));
  press("all", () => look(whole.from, whole.to));
  press("back", () => step(-1));
  press("next", () => step(1));
  let typing = 0;
  box.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => search(box.value), total > 50000 ? 250 : 0);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") search(box.value = "");
  });
  frame.addEventListener("scroll", () => {
    if (!hovered) tip.hidden = true;
    redraw();
  });
  window.addEventListener("resize", layout);

  card.hidden = true;
  root.hidden = false;
  layout();
  look(whole.from, whole.to);
});
