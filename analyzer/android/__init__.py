"""What Android does with an app: components, lifecycles, callbacks, and the synthetic code that stands for it."""
