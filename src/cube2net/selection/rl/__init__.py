"""Learning to select by reinforcement: episodes, their rollouts on a CPU or a GPU, PPO, and the method of the paper."""
