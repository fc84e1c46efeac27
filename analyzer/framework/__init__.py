"""The framework model and its generator (`python -m analyzer.framework.generate`)."""

from analyzer.framework.model import Framework, FrameworkClass, FrameworkMethod, load

__all__ = ["Framework", "FrameworkClass", "FrameworkMethod", "load"]
