// SPDX-License-Identifier: Apache-2.0
// Going on from a finished video that has kept its state: behind its last frames, or with a stretch of it made anew.

const OVERLAP_FRAMES = 25;  // that an extension holds where it does not say
const SECONDS_TO_ADD = 3;
const STRETCH_SECONDS = 1;  // around what is seen, until one marks another

const promotionOf = (name, keepState) => ({ source: { video: name, promote: {} }, ...keepState ? { keepState } : {} });
// The request for a video, of which only its spec is known. What its source decides is left out beside it.
function requestOf(spec) {
  if (spec.source?.promote) return promotionOf(spec.source.video, spec.keepState);
  if (!spec.source) return spec;
  const { width, height, numFrames, frameRate, ...rest } = spec;
  return rest;
}
const keepsState = (video) => new Date(video.stateExpireTime || 0) > Date.now();
let panels = 0;  // so far: ids of their fields are apart

// The form below a video, of kind 'extend' or 'retake'.
class Continuation {
  constructor(stage, kind) {
    Object.assign(this, { stage, kind, video: stage.result, own: ++panels });
    this.model = models.find((one) => one.name === this.video.spec.model) || {};
    this.node = byId('continuation').content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.node.querySelector(selector);
    for (const part of this.node.querySelectorAll('[data-kind]')) if (part.dataset.kind !== kind) part.remove();
    this.find('h3').textContent = kind === 'extend' ? 'Go on behind its end' : 'Make a stretch of it anew';
    this.fields = [...this.node.querySelectorAll('[data-path]')];
    for (const field of this.fields) this.name(field);
    this.fill();
    this.node.addEventListener('input', () => this.changed());
    this.node.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    this.node.addEventListener('keydown', (event) => { if (event.key === 'Escape') stage.leave(); });
    this.find('.leave').addEventListener('click', () => stage.leave());
    this.changed();
  }
  // A place for the refusals of a field, behind it.
  name(field) {
    field.id = `continuation-${this.own}-${field.name}`;
    const place = element('p', '', 'error');
    place.id = `${field.id}-error`;
    field.setAttribute('aria-describedby', place.id);
    field.closest('label').after(place);
  }
  fill() {
    const { spec } = this.video;
    const { elements } = this.node;
    elements.prompt.value = spec.prompt || '';
    fillSelect(elements.preset, this.model.presets || [], 'as made');
    elements.preset.closest('label').hidden = !(this.model.presets || []).length;
    this.duration = spec.numFrames / spec.frameRate;
    if (this.kind === 'extend') {
      elements.seconds.value = SECONDS_TO_ADD;
      elements.overlap.value = Math.min(OVERLAP_FRAMES, spec.numFrames);
      elements.overlap.step = this.multiple();
      elements.overlap.max = spec.numFrames;
      return;
    }
    elements.keeps.closest('label').hidden = !this.model.sound;
    elements.from.max = elements.to.max = this.duration.toFixed(2);
    this.stretch = new Stretch(this.find('.stretch'), this.stage.video, this.duration, (from, to) => this.mark(from, to));
    const begin = Math.min(Math.max(this.stage.video.currentTime - STRETCH_SECONDS / 2, 0), Math.max(this.duration - STRETCH_SECONDS, 0));
    this.mark(begin, Math.min(begin + STRETCH_SECONDS, this.duration));
  }
  multiple() { return this.model.temporalMultiple || 8; }
  frames() {
    const wanted = Number(this.node.elements.seconds.value) * this.video.spec.frameRate;
    return Math.round(wanted / this.multiple()) * this.multiple();
  }
  mark(from, to) {
    this.node.elements.from.value = from.toFixed(2);
    this.node.elements.to.value = to.toFixed(2);
    this.changed();
  }
  request() {
    const { elements } = this.node;
    const source = { video: this.video.name };
    if (this.kind === 'extend') {
      source.extend = { numFrames: this.frames(), overlapFrames: Number(elements.overlap.value) };
    } else {
      const time = (field) => `${Number(field.value).toFixed(3)}s`;
      source.retake = { begin: time(elements.from), end: time(elements.to) };
      if (elements.keeps.value) source.retake[elements.keeps.value] = true;
    }
    const made = { source, prompt: elements.prompt.value.trim(), keepState: true, preview: { everySteps: 2 } };
    if (elements.preset.value) made.preset = elements.preset.value;
    return made;
  }
  changed() {
    if (this.stretch) this.stretch.show(Number(this.node.elements.from.value), Number(this.node.elements.to.value));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.estimate(), 300);
  }
  async estimate() {
    const own = this.asked = (this.asked || 0) + 1;
    const { text, wrong } = await estimateOf({ spec: this.request() });
    if (own !== this.asked || !this.node.isConnected) return;
    this.clear();
    const added = this.kind === 'extend' ? `${this.frames()} new frames. ` : '';
    this.find('.estimate').textContent = wrong ? '' : added + text;
    if (wrong) this.refuse(wrong, false);
  }
  clear() { clearErrors(this.fields, this.find('.refusal')); }
  refuse(error, focus) {
    showError(error, focus, this.fields, this.find('.refusal'));
  }
  // What is refused leaves the video and what was typed where they are.
  async submit() {
    const request = this.request();
    const button = this.find('[type=submit]');
    this.clear();
    button.disabled = true;
    try {
      const { video } = await order({ spec: request }, this.stage.life.signal);
      this.stage.goOn(request, video, request.prompt);
    } catch (error) {
      if (!this.stage.life.signal.aborted) this.refuse(error, true);
    } finally {
      button.disabled = false;
    }
  }
}

// A bar below the pictures, as long as the video, on which a stretch is marked. The two fields beside it do the same by keyboard.
class Stretch {
  constructor(node, video, duration, mark) {
    Object.assign(this, { node, duration });
    const timeAt = (event) => {
      const box = node.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * duration;
    };
    let first = null;
    node.addEventListener('pointerdown', (event) => {
      first = timeAt(event);
      node.setPointerCapture(event.pointerId);
      video.pause();
      event.preventDefault();
    });
    node.addEventListener('pointermove', (event) => {
      if (first === null) return;
      const now = timeAt(event);
      video.currentTime = now;
      mark(Math.min(first, now), Math.max(first, now));
    });
    for (const end of ['pointerup', 'pointercancel']) node.addEventListener(end, () => { first = null; });
    const at = node.querySelector('.at');
    video.addEventListener('timeupdate', () => { at.style.left = `${100 * video.currentTime / duration}%`; });
  }
  show(from, to) {
    const share = (time) => 100 * Math.min(Math.max(time / this.duration, 0), 1);
    const { style } = this.node.querySelector('.marked');
    style.left = `${share(from)}%`;
    style.width = `${Math.max(share(to) - share(from), 0)}%`;
  }
}
